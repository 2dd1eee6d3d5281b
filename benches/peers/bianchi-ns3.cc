// Saturated stations of 802.11a at 54 Mb/s, as in ns-3's wifi-bianchi: all send to one receiver that hears all, in one collision domain.
// usage: bianchi-ns3 STATIONS SECONDS SEED; prints Mb/s of payloads of 1500 B and the processor time of the run.
// build: g++ -O2 -std=c++17 bianchi-ns3.cc -o bianchi-ns3 $(pkg-config --cflags --libs ns3-wifi ns3-network ns3-mobility ns3-propagation)
#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/packet-socket-client.h"
#include "ns3/packet-socket-helper.h"
#include "ns3/packet-socket-server.h"
#include "ns3/wifi-module.h"

#include <ctime>
#include <iostream>

using namespace ns3;

static uint64_t received = 0;
static double counted_from = 1.0;

static void
Received(Ptr<const Packet> packet, const Address&)
{
    if (Simulator::Now().GetSeconds() >= counted_from)
    {
        received += packet->GetSize();
    }
}

int
main(int argc, char** argv)
{
    const uint32_t stations = argc > 1 ? std::stoul(argv[1]) : 50;
    const double seconds = argc > 2 ? std::stod(argv[2]) : 10.0;
    RngSeedManager::SetSeed(argc > 3 ? std::stoul(argv[3]) : 1);

    NodeContainer nodes;
    nodes.Create(stations + 1);
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue("OfdmRate54Mbps"),
                                 "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.DisablePreambleDetectionModel();
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);

    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    PacketSocketHelper().Install(nodes);

    Ptr<PacketSocketServer> server = CreateObject<PacketSocketServer>();
    PacketSocketAddress at;
    at.SetSingleDevice(devices.Get(0)->GetIfIndex());
    at.SetProtocol(1);
    server->SetLocal(at);
    server->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    nodes.Get(0)->AddApplication(server);
    for (uint32_t station = 1; station <= stations; station++)
    {
        PacketSocketAddress to;
        to.SetSingleDevice(devices.Get(station)->GetIfIndex());
        to.SetPhysicalAddress(devices.Get(0)->GetAddress());
        to.SetProtocol(1);
        Ptr<PacketSocketClient> client = CreateObject<PacketSocketClient>();
        client->SetAttribute("PacketSize", UintegerValue(1500));
        client->SetAttribute("MaxPackets", UintegerValue(0));
        // 50 Mb/s of all together: twice what the air carries.
        client->SetAttribute("Interval", TimeValue(MicroSeconds(240 * stations)));
        client->SetRemote(to);
        client->SetStartTime(MilliSeconds(100 + station));
        nodes.Get(station)->AddApplication(client);
    }
    Simulator::Stop(Seconds(seconds + counted_from));
    const clock_t begin = clock();
    Simulator::Run();
    const double took = double(clock() - begin) / CLOCKS_PER_SEC;
    std::cout << received * 8e-6 / seconds << " " << took << std::endl;
    Simulator::Destroy();
    return 0;
}
