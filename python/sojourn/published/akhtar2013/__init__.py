"""The study `akhtar2013`: queue managers on a DSL line, judged by what people see."""
