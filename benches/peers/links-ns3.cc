// A saturated link of HT, VHT or HE, as in ns-3's wifi-ht-network, wifi-vht-network and wifi-he-network: one access point sends datagrams to one
// station a metre away. Prints Mb/s of payloads, frames of an aggregate (mean), and how often each kind of frame was sent.
// usage: links-ns3 STANDARD(n|ac|ax) BAND(2.4|5) WIDTH MCS GUARD_NS RTS(0|1) WINDOW(64|256) PAYLOAD INTERVAL_US COUNTED_FROM SECONDS SEED
// build: g++ -O2 -std=c++17 links-ns3.cc -o links-ns3 $(pkg-config --cflags --libs ns3-wifi ns3-internet ns3-applications ns3-mobility)
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <iostream>
#include <map>

using namespace ns3;

static uint64_t received = 0;
static double counted_from = 2.0;
static uint64_t aggregates = 0;
static uint64_t frames = 0;
static std::map<std::string, uint64_t> kinds;
static std::map<std::string, double> longest_us;
static WifiPhyBand band = WIFI_PHY_BAND_5GHZ;

static void
Received(Ptr<const Packet> packet)
{
    if (Simulator::Now().GetSeconds() >= counted_from)
    {
        received += packet->GetSize();
    }
}

static void
Sent(std::string, WifiConstPsduMap psdus, WifiTxVector vector, double)
{
    Ptr<const WifiPsdu> psdu = psdus.begin()->second;
    const WifiMacHeader& header = psdu->GetHeader(0);
    const Time airtime = WifiPhy::CalculateTxDuration(psdu, vector, band);
    if (Simulator::Now().GetSeconds() < counted_from)
    {
        return;
    }
    if (header.IsQosData())
    {
        aggregates++;
        frames += psdu->GetNMpdus();
    }
    const std::string kind = std::string(header.GetTypeString()) + " " + std::to_string(vector.GetMode().GetDataRate(vector) / 1000000);
    kinds[kind]++;
    if (airtime.GetMicroSeconds() > longest_us[kind])
    {
        longest_us[kind] = airtime.GetMicroSeconds();
    }
}

int
main(int argc, char** argv)
{
    if (argc < 13)
    {
        return 1;
    }
    const std::string standard = argv[1];
    const bool low = std::string(argv[2]) == "2.4";
    const uint32_t width = std::stoul(argv[3]);
    const uint32_t mcs = std::stoul(argv[4]);
    const uint32_t guard = std::stoul(argv[5]);
    const bool rts = std::stoul(argv[6]) > 0;
    const uint32_t window = std::stoul(argv[7]);
    const uint32_t payload = std::stoul(argv[8]);
    const double interval = std::stod(argv[9]);
    counted_from = std::stod(argv[10]);
    const double seconds = std::stod(argv[11]);
    RngSeedManager::SetSeed(std::stoul(argv[12]));
    band = low ? WIFI_PHY_BAND_2_4GHZ : WIFI_PHY_BAND_5GHZ;

    if (rts)
    {
        Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", StringValue("0"));
    }
    NodeContainer station;
    station.Create(1);
    NodeContainer access_point;
    access_point.Create(1);
    WifiHelper wifi;
    std::string data;
    std::string control;
    const std::string prefix = low ? "ErpOfdmRate" : "OfdmRate";
    if (standard == "n")
    {
        wifi.SetStandard(WIFI_STANDARD_80211n);
        data = "HtMcs" + std::to_string(mcs);
        control = prefix + std::to_string(HtPhy::GetNonHtReferenceRate(mcs) / 1000000) + "Mbps";
    }
    else if (standard == "ac")
    {
        wifi.SetStandard(WIFI_STANDARD_80211ac);
        data = "VhtMcs" + std::to_string(mcs);
        control = prefix + std::to_string(VhtPhy::GetNonHtReferenceRate(mcs) / 1000000) + "Mbps";
    }
    else
    {
        wifi.SetStandard(WIFI_STANDARD_80211ax);
        data = "HeMcs" + std::to_string(mcs);
        control = prefix + std::to_string(HePhy::GetNonHtReferenceRate(mcs) / 1000000) + "Mbps";
    }
    if (low)
    {
        Config::SetDefault("ns3::LogDistancePropagationLossModel::ReferenceLoss", DoubleValue(40));
    }
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(data), "ControlMode", StringValue(control));
    if (standard == "ax")
    {
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(guard)), "MpduBufferSize", UintegerValue(window));
    }
    else
    {
        wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(guard == 400));
    }
    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + (low ? ", BAND_2_4GHZ, 0}" : ", BAND_5GHZ, 0}")));
    WifiMacHelper mac;
    const Ssid ssid("link");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid));
    NetDeviceContainer station_device = wifi.Install(phy, mac, station);
    mac.SetType("ns3::ApWifiMac", "EnableBeaconJitter", BooleanValue(false), "Ssid", SsidValue(ssid));
    NetDeviceContainer access_point_device = wifi.Install(phy, mac, access_point);

    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0.0, 0.0, 0.0));
    places->Add(Vector(1.0, 0.0, 0.0));
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(access_point);
    mobility.Install(station);
    InternetStackHelper stack;
    stack.Install(access_point);
    stack.Install(station);
    Ipv4AddressHelper address;
    address.SetBase("192.168.1.0", "255.255.255.0");
    Ipv4InterfaceContainer at = address.Assign(station_device);
    address.Assign(access_point_device);

    UdpServerHelper server(9);
    ApplicationContainer servers = server.Install(station);
    servers.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    UdpClientHelper client(at.GetAddress(0), 9);
    client.SetAttribute("MaxPackets", UintegerValue(4294967295U));
    client.SetAttribute("Interval", TimeValue(NanoSeconds(uint64_t(interval * 1000))));
    client.SetAttribute("PacketSize", UintegerValue(payload));
    ApplicationContainer clients = client.Install(access_point);
    clients.Start(Seconds(1.0));
    Config::Connect("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyTxPsduBegin", MakeCallback(&Sent));
    Simulator::Stop(Seconds(counted_from + seconds));
    Simulator::Run();
    std::cout << received * 8 / seconds / 1e6 << " Mb/s; " << double(frames) / double(aggregates) << " frames an aggregate;";
    for (const auto& [kind, count] : kinds)
    {
        std::cout << " " << kind << " Mb/s: " << count << " (" << longest_us[kind] << " us)";
    }
    std::cout << std::endl;
    Simulator::Destroy();
    return 0;
}
