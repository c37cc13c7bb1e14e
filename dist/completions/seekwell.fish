# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_seekwell_global_optspecs
    string join \n json color= runs-dir= h/help V/version
end

function __fish_seekwell_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_seekwell_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_seekwell_using_subcommand
    set -l cmd (__fish_seekwell_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c seekwell -n "__fish_seekwell_needs_command" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_needs_command" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_needs_command" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_needs_command" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "checkup" -d 'Inspect, measure and explain the disk under a path: the main job'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "inspect" -d 'Show how disks are attached and set up, and what could not be read'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "bench" -d 'Run one workload, with fio\'s option names'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "report" -d 'Write kept runs as one HTML page that works offline'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "runs" -d 'List, show and remove kept runs'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l size -d 'Size of the temporary file [default: 1 GiB, 256 MiB with --quick, 4 GiB with --thorough]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -s o -l output -d 'Write the page to this file' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l label -d 'A name for this configuration, to compare with others later' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l seed -d 'Seed of all random choices' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l engine -d 'How requests are issued' -r -f -a "auto\t'io_uring where the kernel allows it, threads elsewhere'
io_uring\t'io_uring, or an error'
threads\t'pread and pwrite from a pool of threads'"
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l destroy -d 'Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is lost' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l quick -d '15 seconds: fewer depths, fewer repeats'
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l thorough -d '5 minutes: more repeats, longer runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l no-keep -d 'Do not keep the run'
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -s v -l verbose -d 'Show where every fact was read'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l on -d 'A directory, file or block device, or `null` for the cost of the engine itself' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l rw -d 'Direction and order of requests' -r -f -a "read\t'Sequential reads'
write\t'Sequential writes'
randread\t'Random reads'
randwrite\t'Random writes'
rw\t'Sequential reads and writes'
randrw\t'Random reads and writes'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l bs -d 'Size of one request' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l iodepth -d 'Requests each thread keeps outstanding' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l numjobs -d 'Threads, each with its own depth' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l runtime -d 'How long to measure' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l ramp_time -d 'How long to run before measuring' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l size -d 'Size of the temporary file, or of the part of the target used' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l offset -d 'First byte used' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l rwmixread -d 'Share of reads in a mix, in percent' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l rate_iops -d 'Requests per second in each thread; without it, as many as the depth allows' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l rate_process -d 'Arrivals under --rate_iops: evenly spaced or random' -r -f -a "linear\t'Even gaps'
poisson\t'Exponential gaps'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l random_distribution -d 'Where random requests go' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l fsync -d 'A flush after every N writes' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l direct -d 'Past the page cache (1) or through it (0)' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l tags -d 'Let at most N requests be outstanding, whatever the depth: one pool of tags' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l repeats -d 'How often to measure' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l seed -d 'Seed of all random choices' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l engine -d 'How requests are issued' -r -f -a "auto\t'io_uring where the kernel allows it, threads elsewhere'
io_uring\t'io_uring, or an error'
threads\t'pread and pwrite from a pool of threads'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l label -d 'A name for this configuration, to compare with others later' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l destroy -d 'Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is lost' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l no-keep -d 'Do not keep the run'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -s o -l output -d 'Write the page to this file [default: seekwell-RUN.html]' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l markdown -d 'Print Markdown on standard output instead'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -f -a "list" -d 'List kept runs, newest first'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -f -a "show" -d 'Show one run'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -f -a "remove" -d 'Remove runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -f -a "reindex" -d 'Make the index anew from the bundles'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove reindex help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from list" -s n -l limit -d 'Only the newest N' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from list" -l label -d 'Only runs with this label' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from list" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from list" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from show" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from show" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from remove" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from remove" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from remove" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from remove" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from reindex" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from reindex" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from reindex" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from reindex" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from reindex" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "list" -d 'List kept runs, newest first'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one run'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "reindex" -d 'Make the index anew from the bundles'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect bench report runs help" -f -a "checkup" -d 'Inspect, measure and explain the disk under a path: the main job'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect bench report runs help" -f -a "inspect" -d 'Show how disks are attached and set up, and what could not be read'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect bench report runs help" -f -a "bench" -d 'Run one workload, with fio\'s option names'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect bench report runs help" -f -a "report" -d 'Write kept runs as one HTML page that works offline'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect bench report runs help" -f -a "runs" -d 'List, show and remove kept runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect bench report runs help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "list" -d 'List kept runs, newest first'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "show" -d 'Show one run'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "remove" -d 'Remove runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "reindex" -d 'Make the index anew from the bundles'
