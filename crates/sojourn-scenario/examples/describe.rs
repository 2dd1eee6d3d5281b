//! Prints the generated descriptions of the scenario file: `reference` (Markdown) or `schema` (JSON); or writes a table of the
//! parameters of each kind below a folder.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use sojourn_scenario::describe;

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["reference"] => io::stdout().write_all(describe::reference_page().as_bytes())?,
        ["schema"] => io::stdout().write_all(describe::json_schema().as_bytes())?,
        ["parameters", folder] => write_tables(Path::new(folder))?,
        _ => {
            writeln!(io::stderr(), "usage: describe reference | schema | parameters FOLDER")?;
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_tables(folder: &Path) -> io::Result<()> {
    for (name, table) in describe::parameter_tables() {
        let path = folder.join(format!("{name}.md"));
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, table)?;
    }
    Ok(())
}
