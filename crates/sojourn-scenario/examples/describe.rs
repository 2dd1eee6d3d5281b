//! Prints the generated descriptions of the scenario file: `reference` (Markdown) or `schema` (JSON).

use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> io::Result<ExitCode> {
    let text = match std::env::args().nth(1).as_deref() {
        Some("reference") => sojourn_scenario::describe::reference_page(),
        Some("schema") => sojourn_scenario::describe::json_schema(),
        _ => {
            writeln!(io::stderr(), "usage: describe reference|schema")?;
            return Ok(ExitCode::from(2));
        }
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
