"""The probe: runs Flent on a schedule in a home, keeps the measurements, and sends them to the collector.

| module | content |
|---|---|
| `settings` | the file that configures a probe |
| `schedule` | when the next test is due |
| `spool` | measurements until the collector has them |
| `upload` | sending them, again and again until they are there |
| `running` | the scheduler process, and units for systemd |
"""
