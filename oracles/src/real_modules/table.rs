//! The table: a line for each module.

use std::fmt::Write;

use super::make::Made;
use crate::machine_code::{Report, counted};

const HEAD: [&str; 7] = ["module", "generator", "target", "statements", "errors", "code", "warnings"];

/// Columns as wide as what is in them; the last one is open.
pub fn render(rows: &[(&Made, &Report)]) -> String {
    let mut cells = vec![HEAD.map(str::to_owned)];
    for (made, report) in rows {
        cells.push([
            made.name.clone(),
            made.generator.to_owned(),
            made.target.clone(),
            report.statements.to_string(),
            counted(&report.errors),
            report.code.to_string(),
            counted(&report.warnings),
        ]);
    }
    let width = |column: usize| cells.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..HEAD.len() - 1).map(width).collect();
    let mut out = String::new();
    for row in &cells {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        line.push_str(&row[HEAD.len() - 1]);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::machine_code::{Code, Report};
    use crate::real_modules::make::Made;

    #[test]
    fn columns_line_up() {
        let made = |name: &str| Made {
            generator: "triton",
            name: name.to_owned(),
            target: "sm_90".to_owned(),
            result: Err(String::new()),
        };
        let good = Report {
            statements: 120,
            errors: Vec::new(),
            warnings: vec![641],
            code: Code::Same,
            details: String::new(),
        };
        let rows = [(&made("softmax"), &good), (&made("matmul_f16"), &Report::not_made(String::new()))];
        assert_eq!(
            render(&rows),
            "module      generator  target  statements  errors  code      warnings\n\
             softmax     triton     sm_90   120                 same      PTX0641\n\
             matmul_f16  triton     sm_90   0                   not made\n"
        );
    }
}
