"""Wi-Fi as the bottleneck: measured access points, and bounds of other simulators and of a test plan."""
