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
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "diff" -d 'Say what differs between two machines, or one machine at two times'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "bench" -d 'Run one workload, with fio\'s option names, or a suite people know'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "compare" -d 'Say what differs between two configurations, and whether that is beyond chance'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "experiment" -d 'Change one thing, and find out whether it helps: interleaved runs and one verdict'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "tune" -d 'Try settings of a disk: put back by itself unless you keep them'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "tune-guard" -d 'Watch over a trial; started by `tune try`'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "record" -d 'Record the requests that reach a disk, while a command runs or for a time'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "replay" -d 'Play recorded requests back on another disk, and say how faithfully that was done'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "trace" -d 'Look into recorded requests: formats, counts, conversion, parts'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "machine" -d 'Modelled hardware that answers "what if": list, show and check its descriptions'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "reproduce" -d 'Show published figures beside what modelled machines give'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "report" -d 'Write kept runs as one HTML page that works offline'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "runs" -d 'List, show and remove kept runs'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "serve" -d 'Show kept runs in a browser: read-only, on this machine, live while something runs'
complete -c seekwell -n "__fish_seekwell_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand checkup" -l set -d 'Make a modelled machine different: controller.kind=ide, host.tags=split' -r
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
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l save -d 'Save everything that was read to FILE, to look at it on another machine' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l from -d 'Inspect what was saved in FILE, not this machine' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l since -d 'Judge error counters by what they have grown since this snapshot of --save' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l log -d 'Read this kernel log, not the running kernel\'s; `-` is standard input' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l lsmod -d 'Beside --from a text of `lspci -vvnn`: the output of `lsmod` of the same machine' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l explain -d 'Explain a finding: what it means, how it is known, why it matters, what to do' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -s v -l verbose -d 'Show where every fact was read'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l mask -d 'Put placeholders for serial numbers, world-wide names, UUIDs, MAC addresses and host names'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l probe -d 'Ask ATA disks, as root, whether queued and DMA commands are accepted right now'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l watch -d 'Stay, and say in one line each what is plugged in or out and what goes wrong'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand inspect" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand diff" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand diff" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand diff" -s v -l verbose -d 'Show also names and places that differ, and where every value was read'
complete -c seekwell -n "__fish_seekwell_using_subcommand diff" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand diff" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l on -d 'A directory, file or block device, the .toml description of a modelled machine, or `null` for the cost of the engine itself; for job files, in place of what they name' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l suite -d 'Run a suite people know in place of one workload; `list` says which there are' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l set -d 'Set what can be tuned in the suite, or make a modelled machine different: controller.kind=ide, host.tags=split' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l repeats -d 'How often to measure' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l seed -d 'Seed of all random choices' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l label -d 'A name for this configuration, to compare with others later' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l rw -d 'Direction and order of requests' -r -f -a "read\t'Sequential reads'
write\t'Sequential writes'
randread\t'Random reads'
randwrite\t'Random writes'
rw\t'Sequential reads and writes'
randrw\t'Random reads and writes'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l bs -d 'Size of one request' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l iodepth -d 'Requests each thread keeps outstanding' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l numjobs -d 'Threads, each with its own depth' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l runtime -d 'How long to measure in one run' -r
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
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l tags -d 'Let at most N requests be outstanding in each thread, whatever the depth' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l tag-policy -d 'Which waiting request gets a free tag' -r -f -a "shared\t''
split\t''
reads-first\t''
deadline\t''
domains\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l engine -d 'How requests are issued' -r -f -a "auto\t'io_uring where the kernel allows it, threads elsewhere'
io_uring\t'io_uring, or an error'
threads\t'pread and pwrite from a pool of threads'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l destroy -d 'Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is lost' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l sweep -d 'Measure at each of several values of an option: iodepth=1..256 doubles, rwmixread=0..100:25 steps, bs=512,4k,64k lists' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l limit -d 'Find the highest rate whose response time keeps a bound: p99=2ms, also mean, p50, p90, p99.9, p99.99' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l progress -d 'Show while it runs how it goes: `always` prints a line a second where standard error is no terminal' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l format -d 'Print the result in this form, and nothing else, on standard output' -r -f -a "fio-json\t'What fio prints under --output-format=json'
fio-json+\t'The same with all bins of the histograms: --output-format=json+'
csv\t'One row for each phase and metric'
prometheus\t'Metrics for the textfile collector of Prometheus\' node exporter'
bonnie-csv\t'The CSV line of bonnie++ 2.00, one for each repeat of the suite fs'
bonnie-csv-1.97\t'The same as bonnie++ 1.97 wrote it'
bonnie-csv-1.96\t'The same as bonnie++ 1.96 wrote it'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l output-dir -d 'Write results and logs into DIR under the names that fio-plot looks for' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l write-logs -d 'Write fio\'s logs PREFIX_bw.N.log, PREFIX_iops.N.log and PREFIX_lat.N.log for each job N' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l show -d 'Print the jobs as understood, and where they would write how much; run nothing'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l quick -d 'The short form of the suite: ends within a minute'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l full -d 'The suite as its definition says; the default'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l no-keep -d 'Do not keep the run'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l steady -d 'Repeat until the rate is steady: five runs within 20 % of their mean and without a trend, in 25 runs at most'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l precondition -d 'Write twice the size of the region before measuring, from start to end, then at random'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand bench" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l metric -d 'The metric that decides: METRIC or WORKLOAD/METRIC, such as rand-read-4k-d32/read.requests_per_s' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l margin -d 'Smallest difference that matters [default: 2% for rates, 5% for latencies]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l expect -d 'Exit with status 1 unless the data show this: faster, slower, equivalent or equivalent:PERCENT' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -s o -l output -d 'Write the comparison as one page to this file' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l phoronix -d 'Also write the sides and their runs to FILE as a result file of the Phoronix Test Suite' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l force -d 'Show numbers of different workloads side by side, without any verdict'
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l all -d 'Show every metric and every difference'
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l markdown -d 'Print Markdown'
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand compare" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l on -d 'A directory, file or block device, or `null` for the engine itself' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l a -d 'What arm A has: options of the workload or settings of the disk' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l b -d 'What arm B has' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l allow-risk -d 'Allow settings that may hang the disk (C) or lose data (D)' -r -f -a "C\t'May hang or drop the disk or the machine'
D\t'May lose data'"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l a-cmd -d 'A shell command run before each run of A; if it fails, the experiment ends as invalid' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l b-cmd -d 'A shell command run before each run of B' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l a-mode -d 'What a person sets for A, such as `AHCI in the BIOS`' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l b-mode -d 'What a person sets for B' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l now-in -d 'The mode the machine is in now' -r -f -a "a\t'The baseline'
b\t'What is compared with it'"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l metric -d 'The metric the verdict is on [default: requests a second of what is mostly done]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l margin -d 'The smallest difference that matters [default: 2%, 5% for the 99th percentile and beyond]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l blocks -d 'Make this many blocks, whatever the noise [default: 10 to 40, by the width after 8]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l settle -d 'Pause before every run, after the arm was applied' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l seed -d 'Seed of the order and of all requests [default: another one each time]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l expect -d 'Exit with 1 unless this is shown: faster, slower, equivalent, equivalent:3%' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -s o -l output -d 'Write the result as one page to this file' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l rw -d 'Direction and order of requests' -r -f -a "read\t'Sequential reads'
write\t'Sequential writes'
randread\t'Random reads'
randwrite\t'Random writes'
rw\t'Sequential reads and writes'
randrw\t'Random reads and writes'"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l bs -d 'Size of one request' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l iodepth -d 'Requests each thread keeps outstanding' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l numjobs -d 'Threads, each with its own depth' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l runtime -d 'How long to measure in one run' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l ramp_time -d 'How long to run before measuring' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l size -d 'Size of the temporary file, or of the part of the target used' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l offset -d 'First byte used' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l rwmixread -d 'Share of reads in a mix, in percent' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l rate_iops -d 'Requests per second in each thread; without it, as many as the depth allows' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l rate_process -d 'Arrivals under --rate_iops: evenly spaced or random' -r -f -a "linear\t'Even gaps'
poisson\t'Exponential gaps'"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l random_distribution -d 'Where random requests go' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l fsync -d 'A flush after every N writes' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l direct -d 'Past the page cache (1) or through it (0)' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l tags -d 'Let at most N requests be outstanding in each thread, whatever the depth' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l tag-policy -d 'Which waiting request gets a free tag' -r -f -a "shared\t''
split\t''
reads-first\t''
deadline\t''
domains\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l engine -d 'How requests are issued' -r -f -a "auto\t'io_uring where the kernel allows it, threads elsewhere'
io_uring\t'io_uring, or an error'
threads\t'pread and pwrite from a pool of threads'"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l destroy -d 'Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is lost' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l reboot-between -d 'The arms are modes that take a reboot in between, named with --a-mode and --b-mode'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l aa -d 'Measure one thing as both arms: a self-test that learns how noisy the machine is'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l pairs -d 'Blocks of two runs in place of four, for costly runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -f -a "resume" -d 'Go on where an experiment stopped'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and not __fish_seen_subcommand_from resume help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from resume" -s o -l output -d 'Write the result as one page to this file; of one that is at its end, too' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from resume" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from resume" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Go on where an experiment stopped'
complete -c seekwell -n "__fish_seekwell_using_subcommand experiment; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -f -a "plan" -d 'Show every setting of a disk, what may be worth a try, and who else sets it'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -f -a "try" -d 'Set, verify, and put back by itself unless `keep` is said in time'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -f -a "auto" -d 'Find a setting that helps a workload, and prove it; changes nothing for good'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -f -a "keep" -d 'Let what is tried stay until the next boot'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -f -a "undo" -d 'Put back what was tried or kept, and remove its udev rule'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -f -a "status" -d 'Show what is changed now, and what survives a reboot'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and not __fish_seen_subcommand_from plan try auto keep undo status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from plan" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from plan" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from plan" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from plan" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l for -d 'Put it back after this time unless `keep` is said' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l allow-risk -d 'Allow settings that may hang the disk (C) or lose data (D)' -r -f -a "C\t'May hang or drop the disk or the machine'
D\t'May lose data'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l measure -d 'Measure this workload before and under the setting: one run each, so no verdict' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l runtime -d 'How long one run of the workload takes [default: 5s]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l size -d 'Size of the temporary file, or of the part of the target used' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l destroy -d 'Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is lost' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l no-canary -d 'Do not read a block every second to see whether the disk answers: it wakes a sleeping disk'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from try" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l workload -d 'What the disk is to do well, as fio names it: randread,bs=4k,iodepth=32' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l goal -d 'What is to get better' -r -f -a "rate\t'Requests a second'
p99\t'The 99th percentile of the time a request takes'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l candidate -d 'Screen this in place of what the program would choose; may be given several times' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l screen -d 'Pairs of runs for each candidate, before the best is confirmed' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l margin -d 'The smallest gain that matters [default: 2% of a rate, 5% of the 99th percentile]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l settle -d 'Pause before every run, after the setting was applied' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l seed -d 'Seed of the order and of all requests [default: another one each time]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l runtime -d 'How long one run of the workload takes [default: 5s]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l size -d 'Size of the temporary file, or of the part of the target used' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l destroy -d 'Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is lost' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from auto" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from keep" -l rules-dir -d 'Where rules are written' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from keep" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from keep" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from keep" -l persist -d 'Set it again at every boot, by a udev rule for this very disk'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from keep" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from keep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from keep" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from undo" -l rules-dir -d 'Where rules are written' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from undo" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from undo" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from undo" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from undo" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from status" -l rules-dir -d 'Where rules are written' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from status" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from status" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from status" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from status" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "plan" -d 'Show every setting of a disk, what may be worth a try, and who else sets it'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "try" -d 'Set, verify, and put back by itself unless `keep` is said in time'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "auto" -d 'Find a setting that helps a workload, and prove it; changes nothing for good'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "keep" -d 'Let what is tried stay until the next boot'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "undo" -d 'Put back what was tried or kept, and remove its udev rule'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show what is changed now, and what survives a reboot'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune-guard" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune-guard" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand tune-guard" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune-guard" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand tune-guard" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -s o -l output -d 'The trace to write: .parquet is seekwell\'s own format; .csv and .iolog are others' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l for -d 'How long to record' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l pid -d 'Keep requests of this process only, all its threads included; may be repeated' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l process -d 'Keep requests of processes or threads of this name only; may be repeated' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l buffer -d 'The kernel\'s buffer for each CPU [default: 64 MiB, less on small machines]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l via -d 'How events are read' -r -f -a "auto\t'A tracefs instance where one can be made, perf_event_open elsewhere'
tracefs\t'A tracefs instance, or an error'
perf\t'perf_event_open, or an error'"
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l stack -d 'Record whole disks: the device, and every one below and above it'
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand record" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l on -d 'A directory, file or block device, or `null` for the cost of the engine itself' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l set -d 'Make a modelled machine different: controller.kind=ide, host.tags=split' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l device -d 'Play the requests of one recorded device, by the name `trace info` shows' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l map -d 'Play one recorded device on one target; repeated, all are played at once on one clock' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l mode -d 'When requests are issued' -r -f -a "timed\t'Each at its recorded time, whether or not the target keeps up'
depth\t'As soon as fewer than --depth are outstanding, or than were in the recording'
dependent\t'After the requests it had waited for, and the time that was thought'"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l speed -d 'Times as fast as recorded; thinking is shortened likewise' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l depth -d 'The most requests outstanding [default: 256, or less where requests are long; with --mode depth as many as in the recording]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l fit -d 'What to do where the recorded disk was larger than the target' -r -f -a "fail\t'Refuse it'
modulo\t'Wrap addresses around: distances stay, places coincide'
scale\t'Shrink or stretch addresses evenly: order stays, distances change'"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l times -d 'The recorded time that counts' -r -f -a "queue\t'When requests were made: the target\'s own scheduler does its work again'
issue\t'When the device got them'"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l late -d 'A request handed over later than this after its time is late' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l from -d 'Format of the trace, where the first bytes do not tell' -r -f -a "seekwell\t''
blktrace\t''
blkparse\t''
perf-script\t''
iolog\t''
msr\t''
alibaba\t''
tencent\t''
systor\t''
spc\t''
fiu\t''
disksim\t''
disksim-validate\t''
vscsi\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l size -d 'Size of the temporary file, or of the part of the target used [default: what the trace reaches]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l repeats -d 'How often to play it' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l label -d 'A name for this configuration, to compare with others later' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l tags -d 'Let at most N requests be outstanding, whatever the depth' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l tag-policy -d 'Which waiting request gets a free tag' -r -f -a "shared\t''
split\t''
reads-first\t''
deadline\t''
domains\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l engine -d 'How requests are issued' -r -f -a "auto\t'io_uring where the kernel allows it, threads elsewhere'
io_uring\t'io_uring, or an error'
threads\t'pread and pwrite from a pool of threads'"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l destroy -d 'Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is lost' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l no-keep -d 'Do not keep the run'
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand replay" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -f -a "list" -d 'Show which formats are read and written, and what each can hold'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -f -a "info" -d 'Say what is known of a trace: where it is from, devices, counts, what was lost'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -f -a "stats" -d 'Say what kind of load a trace is: sizes, arrivals, queue, latencies, locality, reuse'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -f -a "convert" -d 'Write a trace in another format'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -f -a "cut" -d 'Keep a part of a trace: a time, a device, a process, some operations'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and not __fish_seen_subcommand_from list info stats convert cut help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from list" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from list" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from info" -l from -d 'Its format, where the first bytes do not tell' -r -f -a "seekwell\t''
blktrace\t''
blkparse\t''
perf-script\t''
iolog\t''
msr\t''
alibaba\t''
tencent\t''
systor\t''
spc\t''
fiu\t''
disksim\t''
disksim-validate\t''
vscsi\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from info" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from info" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from info" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from info" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -l from -d 'Its format, where the first bytes do not tell' -r -f -a "seekwell\t''
blktrace\t''
blkparse\t''
perf-script\t''
iolog\t''
msr\t''
alibaba\t''
tencent\t''
systor\t''
spc\t''
fiu\t''
disksim\t''
disksim-validate\t''
vscsi\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -s o -l output -d 'Write the page to this file' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -l no-reuse -d 'Leave out reuse distances and the miss-ratio curve: faster'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -l markdown -d 'Print Markdown'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from stats" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -l from -d 'Format of the input, where the first bytes do not tell' -r -f -a "seekwell\t''
blktrace\t''
blkparse\t''
perf-script\t''
iolog\t''
msr\t''
alibaba\t''
tencent\t''
systor\t''
spc\t''
fiu\t''
disksim\t''
disksim-validate\t''
vscsi\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -l to -d 'Format of the output [default: by the ending of its name]' -r -f -a "seekwell\t''
blktrace\t''
iolog\t''
msr\t''
disksim\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -l force -d 'Replace the output where it exists'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from convert" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l from -d 'Format of the input, where the first bytes do not tell' -r -f -a "seekwell\t''
blktrace\t''
blkparse\t''
perf-script\t''
iolog\t''
msr\t''
alibaba\t''
tencent\t''
systor\t''
spc\t''
fiu\t''
disksim\t''
disksim-validate\t''
vscsi\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l to -d 'Format of the output [default: by the ending of its name]' -r -f -a "seekwell\t''
blktrace\t''
iolog\t''
msr\t''
disksim\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l start -d 'Leave out what arrived earlier than this after the first request' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l end -d 'Leave out what arrived this long after the first request, or later' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l device -d 'Keep requests to this device only, by the name `trace info` shows; may be repeated' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l pid -d 'Keep requests of this process number only; may be repeated' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l process -d 'Keep requests of processes of this name only; may be repeated' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l op -d 'Keep these operations only' -r -f -a "read\t''
write\t''
flush\t''
discard\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l force -d 'Replace the output where it exists'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from cut" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show which formats are read and written, and what each can hold'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from help" -f -a "info" -d 'Say what is known of a trace: where it is from, devices, counts, what was lost'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from help" -f -a "stats" -d 'Say what kind of load a trace is: sizes, arrivals, queue, latencies, locality, reuse'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from help" -f -a "convert" -d 'Write a trace in another format'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from help" -f -a "cut" -d 'Keep a part of a trace: a time, a device, a process, some operations'
complete -c seekwell -n "__fish_seekwell_using_subcommand trace; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -f -a "list" -d 'Show which machines and parts ship with the program'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -f -a "show" -d 'Show a machine\'s layers and all its parameters with where each is from'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -f -a "check" -d 'Say whether descriptions can be used; if not, name the line, the key and the remedy'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -f -a "import" -d 'Make a description of a drive of DiskSim'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -f -a "validate" -d 'Play measured requests to a machine and say how far its times are from the measured ones'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -f -a "fit" -d 'Make a description of a disk from a checkup of it'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and not __fish_seen_subcommand_from list show check import validate fit help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from list" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from list" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from show" -l set -d 'Make it different: controller.kind=ide, host.tags=split' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from show" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from show" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from check" -l set -d 'Make them different before they are checked' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from check" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from check" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from check" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from check" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from import" -s o -l output -d 'The description to write' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from import" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from import" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from import" -l force -d 'Replace the output where it exists'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from import" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from import" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -l trace -d 'A trace with the time each request was issued and done' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -l from -d 'Its format, where the first bytes do not tell' -r -f -a "seekwell\t''
blktrace\t''
blkparse\t''
perf-script\t''
iolog\t''
msr\t''
alibaba\t''
tencent\t''
systor\t''
spc\t''
fiu\t''
disksim\t''
disksim-validate\t''
vscsi\t''
oracle\t''
csv\t''"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -l set -d 'Make the machine different first' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -l seed -d 'Seed of all random choices; 1 or the parameter file\'s if not given' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from validate" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -s o -l output -d 'The description to write' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -l on-depths -d 'Fit to these depths only, and say how well the others are predicted' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -l force -d 'Replace the output where it exists'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from fit" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show which machines and parts ship with the program'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a machine\'s layers and all its parameters with where each is from'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from help" -f -a "check" -d 'Say whether descriptions can be used; if not, name the line, the key and the remedy'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from help" -f -a "import" -d 'Make a description of a drive of DiskSim'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from help" -f -a "validate" -d 'Play measured requests to a machine and say how far its times are from the measured ones'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from help" -f -a "fit" -d 'Make a description of a disk from a checkup of it'
complete -c seekwell -n "__fish_seekwell_using_subcommand machine; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand reproduce" -s o -l output -d 'Write a page with published and modelled figures side by side to this file' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand reproduce" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand reproduce" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand reproduce" -l markdown -d 'Print Markdown'
complete -c seekwell -n "__fish_seekwell_using_subcommand reproduce" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand reproduce" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand reproduce" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -s o -l output -d 'Write the page to this file [default: seekwell-RUN.html]' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l format -d 'Print the result in this form, and nothing else, on standard output' -r -f -a "fio-json\t'What fio prints under --output-format=json'
fio-json+\t'The same with all bins of the histograms: --output-format=json+'
csv\t'One row for each phase and metric'
prometheus\t'Metrics for the textfile collector of Prometheus\' node exporter'
bonnie-csv\t'The CSV line of bonnie++ 2.00, one for each repeat of the suite fs'
bonnie-csv-1.97\t'The same as bonnie++ 1.97 wrote it'
bonnie-csv-1.96\t'The same as bonnie++ 1.96 wrote it'"
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l output-dir -d 'Write results and logs into DIR under the names that fio-plot looks for' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l write-logs -d 'Write fio\'s logs PREFIX_bw.N.log, PREFIX_iops.N.log and PREFIX_lat.N.log for each job N' -r -F
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l markdown -d 'Print Markdown on standard output instead'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand report" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -f -a "list" -d 'List kept runs, newest first'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -f -a "show" -d 'Show one run'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -f -a "remove" -d 'Remove runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -f -a "trend" -d 'Show one metric over all kept runs of one configuration, and where it changed'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -f -a "reindex" -d 'Make the index anew from the bundles'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and not __fish_seen_subcommand_from list show remove trend reindex help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
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
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -l phase -d 'The phase, where several have the metric' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -l label -d 'Only runs with this label [default: the label of the newest run that has the metric]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -l markdown -d 'Print Markdown'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from trend" -s V -l version -d 'Print version'
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
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "trend" -d 'Show one metric over all kept runs of one configuration, and where it changed'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "reindex" -d 'Make the index anew from the bundles'
complete -c seekwell -n "__fish_seekwell_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -l port -d 'Port to listen on; 0 takes a free one' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -l bind -d 'Address to listen on; any but this machine\'s own loopback needs a token' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -l token -d 'What a reader has to know, as ?token= or `Authorization: Bearer` [default: none on loopback, else a random one]' -r
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -l color -d 'Colour: by default when standard output is a terminal and NO_COLOR is not set' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -l runs-dir -d 'Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]' -r -f -a "(__fish_complete_directories)"
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -l json -d 'Print one JSON document on standard output and nothing else'
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seekwell -n "__fish_seekwell_using_subcommand serve" -s V -l version -d 'Print version'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "checkup" -d 'Inspect, measure and explain the disk under a path: the main job'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "inspect" -d 'Show how disks are attached and set up, and what could not be read'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "diff" -d 'Say what differs between two machines, or one machine at two times'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "bench" -d 'Run one workload, with fio\'s option names, or a suite people know'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "compare" -d 'Say what differs between two configurations, and whether that is beyond chance'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "experiment" -d 'Change one thing, and find out whether it helps: interleaved runs and one verdict'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "tune" -d 'Try settings of a disk: put back by itself unless you keep them'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "tune-guard" -d 'Watch over a trial; started by `tune try`'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "record" -d 'Record the requests that reach a disk, while a command runs or for a time'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "replay" -d 'Play recorded requests back on another disk, and say how faithfully that was done'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "trace" -d 'Look into recorded requests: formats, counts, conversion, parts'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "machine" -d 'Modelled hardware that answers "what if": list, show and check its descriptions'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "reproduce" -d 'Show published figures beside what modelled machines give'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "report" -d 'Write kept runs as one HTML page that works offline'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "runs" -d 'List, show and remove kept runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "serve" -d 'Show kept runs in a browser: read-only, on this machine, live while something runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and not __fish_seen_subcommand_from checkup inspect diff bench compare experiment tune tune-guard record replay trace machine reproduce report runs serve help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from experiment" -f -a "resume" -d 'Go on where an experiment stopped'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "plan" -d 'Show every setting of a disk, what may be worth a try, and who else sets it'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "try" -d 'Set, verify, and put back by itself unless `keep` is said in time'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "auto" -d 'Find a setting that helps a workload, and prove it; changes nothing for good'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "keep" -d 'Let what is tried stay until the next boot'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "undo" -d 'Put back what was tried or kept, and remove its udev rule'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "status" -d 'Show what is changed now, and what survives a reboot'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from trace" -f -a "list" -d 'Show which formats are read and written, and what each can hold'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from trace" -f -a "info" -d 'Say what is known of a trace: where it is from, devices, counts, what was lost'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from trace" -f -a "stats" -d 'Say what kind of load a trace is: sizes, arrivals, queue, latencies, locality, reuse'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from trace" -f -a "convert" -d 'Write a trace in another format'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from trace" -f -a "cut" -d 'Keep a part of a trace: a time, a device, a process, some operations'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from machine" -f -a "list" -d 'Show which machines and parts ship with the program'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from machine" -f -a "show" -d 'Show a machine\'s layers and all its parameters with where each is from'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from machine" -f -a "check" -d 'Say whether descriptions can be used; if not, name the line, the key and the remedy'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from machine" -f -a "import" -d 'Make a description of a drive of DiskSim'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from machine" -f -a "validate" -d 'Play measured requests to a machine and say how far its times are from the measured ones'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from machine" -f -a "fit" -d 'Make a description of a disk from a checkup of it'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "list" -d 'List kept runs, newest first'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "show" -d 'Show one run'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "remove" -d 'Remove runs'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "trend" -d 'Show one metric over all kept runs of one configuration, and where it changed'
complete -c seekwell -n "__fish_seekwell_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "reindex" -d 'Make the index anew from the bundles'
