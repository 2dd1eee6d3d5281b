"""The collector: the central service that probes of a field trial send their measurements to.

| module | content |
|---|---|
| `tables` | those of the database |
| `storage` | probes, uploads and tests in a database: SQLite in WAL mode, or PostgreSQL |
| `app` | the service (ASGI): uploads, and the page that shows what has come |
| `plan` | who gets which treatment when, and the files that modems load |
| `page` | that page |
| `service` | serving it |
"""
