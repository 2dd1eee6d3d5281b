# One upload of TCP/Linux over a line of constant rate behind a drop-tail queue in ns-2: the pairs of tests/peers/test_ns2_pairs.py.
#
#   ns pair.tcl [-controller reno] [-rate MBPS] [-rtt MS] [-limit PACKETS] [-duration S] [-overhead S]
#               [-back MBPS] [-core MBPS] [-return MBPS]
#
# The queue holds one packet less than the limit. With an overhead each packet leaves up to that much later, at random: it decides
# which of two events of one instant comes first. With rates at which each transmission takes a whole number of 2^-30 s, and such a
# round trip, times of ns-2 are exact: 12.288, 83.88608, 786.432 and 671.08864 Mb/s.
#
# Prints one JSON object: packets sent, packets dropped, reductions, mean of the packets that wait, from 2 s on every 50 ms, and
# what the line carried.
#
#   client --(RATE, 0 ms; back BACK)-- router --(CORE, back RETURN, RTT/2 each)-- server

array set option {-controller cubic -rate 5 -rtt 20 -limit 22 -duration 150 -overhead 0 -back 100 -core 1000 -return 1000}
foreach {name value} $argv {
    if {![info exists option($name)]} {
        puts stderr "pair.tcl: unknown option $name; known: [lsort [array names option]]"
        exit 2
    }
    set option($name) $value
}
# The upload begins two seconds after time zero: dumbbell.tcl says why.
set origin 2.0

Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set timestamps_ true
Agent/TCP set ts_option_size_ 0
Agent/TCP set windowInit_ 4
Agent/TCP set window_ 667
Agent/TCP set overhead_ $option(-overhead)
Agent/TCPSink set ts_echo_rfc1323_ true

set ns [new Simulator]
set client [$ns node]
set router [$ns node]
set server [$ns node]
$ns simplex-link $client $router $option(-rate)Mb 0ms DropTail
$ns simplex-link $router $client $option(-back)Mb 0ms DropTail
$ns simplex-link $router $server $option(-core)Mb [expr {$option(-rtt) / 2.0}]ms DropTail
$ns simplex-link $server $router $option(-return)Mb [expr {$option(-rtt) / 2.0}]ms DropTail
$ns queue-limit $client $router $option(-limit)
foreach {from to} [list $router $client $router $server $server $router] {
    $ns queue-limit $from $to 100000
}
set source [new Agent/TCP/Linux]
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $client $source
$ns attach-agent $server $sink
$ns connect $source $sink
set file [new Application/FTP]
$file attach-agent $source
set queue [$ns monitor-queue $client $router [open /dev/null w]]
set waiting 0.0
set samples 0

proc sample {} {
    global ns queue waiting samples
    set waiting [expr {$waiting + [$queue set pkts_]}]
    incr samples
    $ns at [expr {[$ns now] + 0.05}] sample
}

proc finish {} {
    global source queue option waiting samples
    puts [format "{\"packets\": %d, \"drops\": %d, \"reductions\": %d, \"queue\": %.4f, \"mbps\": %.4f}" \
        [$source set ndatapack_] [$queue set pdrops_] [$source set ncwndcuts_] [expr {$waiting / $samples}] \
        [expr {8e-6 * [$queue set bdepartures_] / $option(-duration)}]]
    exit 0
}

$ns at $origin "$source select_ca $option(-controller)"
$ns at $origin "$file start"
$ns at [expr {$origin + 2}] sample
$ns at [expr {$origin + $option(-duration)}] finish
$ns run
