//! The USB device on the way to a disk.

use crate::view::View;
use std::path::{Path, PathBuf};

/// The folder of the USB device that the device with the sysfs folder `dir` hangs on: its nearest
/// ancestor with a vendor number. `None` for what is not on USB. `dir` is a path without links.
pub fn usb_device(view: &dyn View, dir: &Path) -> Option<PathBuf> {
    let found = dir.ancestors().find(|above| view.exists(&above.join("idVendor")));
    found.map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_stick_is_found_above_its_disk_and_not_its_hub() {
        let disk = Path::new("/sys/devices/usb2/2-1/2-1.4/2-1.4:1.0/host3/block/sdb");
        let fake = Fake::new()
            .file("/sys/devices/usb2/2-1/idVendor", "1d6b")
            .file("/sys/devices/usb2/2-1/2-1.4/idVendor", "0781")
            .dir("/sys/devices/usb2/2-1/2-1.4/2-1.4:1.0/host3/block/sdb");
        let stick = Path::new("/sys/devices/usb2/2-1/2-1.4");
        assert_eq!(usb_device(&fake, disk).as_deref(), Some(stick));
        assert_eq!(usb_device(&fake, Path::new("/sys/devices/pci0/block/sda")), None);
    }
}
