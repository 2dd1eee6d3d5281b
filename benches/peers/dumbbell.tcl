# The dumbbell in ns-2: uploads and one stream over a line of constant rate behind a drop-tail queue.
#
#   ns dumbbell.tcl [-flows N] [-seed N] [-duration S] [-warmup S] [-limit PACKETS] [-trace 0|1]
#      [-tuned 0|1]
#
# Tuned, it has a heap of events instead of the calendar, and packets carry only the headers that this world needs;
# it prints the same in less time.
#
# Prints one JSON object; benches/peers/README.md says what its keys mean and what is equal in the
# other simulators. Version 2.35 has no other queue manager of the comparison.
#
#   client --(5 Mb/s, 0 ms; back 100 Mb/s)-- router --(1 Gb/s, 10 ms)-- server

array set option {-flows 1 -seed 1 -duration 600 -warmup 5 -limit 417 -trace 1 -tuned 0}
foreach {name value} $argv {
    if {![info exists option($name)]} {
        puts stderr "dumbbell.tcl: unknown option $name; known: [lsort [array names option]]"
        exit 2
    }
    set option($name) $value
}
set stream_flow 1000   ;# flow number of the stream

# Everything happens two seconds later than in the other simulators. CUBIC discards samples of delay until a second
# after the start of its epoch, which at first is time zero of the simulator; a flow of the first second would
# take the delay of a full queue for the shortest of the path.
set origin 2.0
set option(-duration) [expr {$option(-duration) + $origin}]
set option(-warmup) [expr {$option(-warmup) + $origin}]

# 1500 B on the wire: 1460 B of data and 40 B of headers; time stamps have no bytes.
Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set timestamps_ true
Agent/TCP set ts_option_size_ 0
Agent/TCP set windowInit_ 4
Agent/TCP set window_ 667   ;# 1.6 times the queue: never the limit once the queue overflows
Agent/TCPSink set ts_echo_rfc1323_ true

if {$option(-tuned)} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags RTP
}
set ns [new Simulator]
$ns use-scheduler [expr {$option(-tuned) ? "Heap" : "Calendar"}]
set client [$ns node]
set router [$ns node]
set server [$ns node]
$ns simplex-link $client $router 5Mb 0ms DropTail
$ns simplex-link $router $client 100Mb 0ms DropTail
$ns duplex-link $router $server 1Gb 10ms DropTail
$ns queue-limit $client $router $option(-limit)
$ns queue-limit $router $client 1000
$ns queue-limit $router $server 10000
$ns queue-limit $server $router 10000

set random [new RNG]
$random seed [expr {12345 + $option(-seed)}]
for {set flow 0} {$flow < $option(-flows)} {incr flow} {
    set source [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $client $source
    $ns attach-agent $server $sink
    $ns connect $source $sink
    $source set fid_ $flow
    set file [new Application/FTP]
    $file attach-agent $source
    set start [expr {$origin + [$random uniform 0 1]}]
    $ns at $start "$source select_ca cubic"
    $ns at $start "$file start"
}
set datagrams [new Agent/UDP]
set nobody [new Agent/Null]
$ns attach-agent $client $datagrams
$ns attach-agent $server $nobody
$ns connect $datagrams $nobody
$datagrams set fid_ $stream_flow
$datagrams set packetSize_ 1000
set stream [new Application/Traffic/CBR]
$stream attach-agent $datagrams
$stream set packetSize_ 218
$stream set interval_ 0.020
$ns at [expr {$origin + [$random uniform 0 0.02]}] "$stream start"

# What the queue did goes through a pipe into awk, which counts and answers when everything has been said:
# earlier, both could wait for each other. Nothing is written to a disk.
# Columns of a trace: event, time, from, to, type, bytes, flags, flow, source, destination, number, identity.
set count {
    $2 >= warmup && $1 == "-" { bytes += $6 }
    $2 >= warmup && $1 == "d" { ++lost; if ($8 == stream) ++stream_lost }
    $1 == "+" && $8 == stream && $2 >= warmup { since[$12] = $2 }
    $1 == "-" && $8 == stream && ($12 in since) {
        waits[++count] = ($2 - since[$12]) * 1000
        delete since[$12]
    }
    END {
        for (i = 1; i <= count; ++i) print waits[i]
        printf "end %.0f %d %d\n", bytes, lost, stream_lost
    }
}
if {$option(-trace)} {
    set pipe [open "|awk -v warmup=$option(-warmup) -v stream=$stream_flow {$count}" r+]
    $ns trace-queue $client $router $pipe
}
$ns at $option(-duration) finish

# The smallest value that at least the share p does not exceed.
proc quantile {sorted p} {
    set rank [expr {int(ceil($p * [llength $sorted]))}]
    return [lindex $sorted [expr {max($rank, 1) - 1}]]
}

proc finish {} {
    global ns option pipe
    if {!$option(-trace)} {
        puts "{}"
        exit 0
    }
    $ns flush-trace
    chan close $pipe write
    set waits {}
    while {[gets $pipe line] >= 0} {
        if {[lindex $line 0] eq "end"} {
            lassign $line word bytes lost stream_lost
        } else {
            lappend waits $line
        }
    }
    set waits [lsort -real $waits]
    set sum 0.0
    foreach wait $waits {
        set sum [expr {$sum + $wait}]
    }
    set count [llength $waits]
    set mean [expr {$count ? $sum / $count : 0.0}]
    set seconds [expr {$option(-duration) - $option(-warmup)}]
    puts [format "{\"throughput_mbps\": %.6f, \"delay_mean_ms\": %.6f, \"delay_p50_ms\": %.6f,\
\"delay_p95_ms\": %.6f, \"losses\": %d, \"stream_losses\": %d, \"stream_packets\": %d}" \
        [expr {$bytes * 8e-6 / $seconds}] $mean [quantile $waits 0.5] [quantile $waits 0.95] \
        $lost $stream_lost $count]
    exit 0
}

$ns run
