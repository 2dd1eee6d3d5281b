"""The probe: runs Flent on a schedule in a home, keeps what it measured, and sends it to the collector.

| module | content |
|---|---|
| `settings` | what a probe is told in its file |
| `schedule` | when the next test is due |
| `spool` | measurements until the collector has them |
| `upload` | sending them, again and again until they are there |
| `running` | the scheduler process, and units for systemd |
"""
