//! What the names of sysfs folders mean.

use std::path::Path;

/// The last part of a path; empty if it has none or it is not UTF-8.
pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap_or("")
}

/// `prefix` followed by digits only.
pub(crate) fn numbered(name: &str, prefix: &str) -> bool {
    let digits = name.strip_prefix(prefix).unwrap_or("");
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a folder's name is a PCI address, `0000:00:1f.2`.
pub(crate) fn is_pci_function(name: &str) -> bool {
    let hex = |text: &str, least: usize, most: usize| {
        (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let mut parts = name.split(':');
    let (Some(domain), Some(bus), Some(slot), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Some((device, function)) = slot.split_once('.') else { return false };
    hex(domain, 4, 8) && hex(bus, 2, 2) && hex(device, 2, 2) && hex(function, 1, 1)
}

/// `2-1` or `2-1.4.3`.
pub(crate) fn is_usb_device(name: &str) -> bool {
    let Some((bus, ports)) = name.split_once('-') else { return false };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    number(bus) && ports.split('.').all(number)
}

/// `2-1:1.0`.
pub(crate) fn is_usb_interface(name: &str) -> bool {
    let Some((device, interface)) = name.split_once(':') else { return false };
    is_usb_device(device) && interface.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pci_addresses_are_told_from_scsi_ones() {
        assert!(is_pci_function("0000:00:1f.2"));
        assert!(is_pci_function("10000:e1:00.0"), "a domain behind Intel VMD has five digits");
        for other in ["0:0:0:0", "pci0000:00", "0000:00:1f", "mmc0:4567", "2-1:1.0", "", "::."] {
            assert!(!is_pci_function(other), "{other}");
        }
    }

    #[test]
    fn usb_names_are_told_apart() {
        assert!(is_usb_device("2-1") && is_usb_device("1-1.4.3"));
        assert!(is_usb_interface("2-1:1.0"));
        for other in ["usb2", "end_device-1", "2-1:1.0", "port-0", "-1", "2-"] {
            assert!(!is_usb_device(other), "{other}");
        }
        assert!(!is_usb_interface("0:0:0:0") && !is_usb_interface("0000:00:1f.2"));
    }
}
