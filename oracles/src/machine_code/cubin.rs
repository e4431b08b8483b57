//! Compares two cubins: ELF files whose sections must be equal, except those that quote the PTX or number its lines.

/// Parts of the names of those sections: the PTX text itself (a number after the name is its checksum), its lines by address, and
/// the names of ptxas's files.
const OF_THE_TEXT: [&str; 3] = ["nv_debug_ptx_txt", "nv_debug_line_sass", ".note.nv.tkinfo"];

/// The sections that differ; empty if both are the same code.
pub fn differences(a: &[u8], b: &[u8]) -> Vec<String> {
    if a == b {
        return Vec::new();
    }
    let (Some(a), Some(b)) = (sections(a), sections(b)) else { return vec!["no ELF file".to_owned()] };
    let plain = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let names = |list: &[(String, &[u8])]| list.iter().map(|(name, _)| plain(name)).collect::<Vec<_>>();
    if names(&a) != names(&b) {
        return vec![format!("sections {:?} became {:?}", names(&a), names(&b))];
    }
    let pairs = a.iter().zip(&b).filter(|(x, y)| x.1 != y.1);
    let changed = pairs.map(|(x, _)| x.0.clone());
    changed.filter(|name| !OF_THE_TEXT.iter().any(|text| name.contains(text))).collect()
}

/// Name and contents of every section of a 64-bit little-endian ELF file.
fn sections(file: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let table = number(file, 0x28, 8)?;
    let size = number(file, 0x3a, 2)?;
    let count = number(file, 0x3c, 2)?;
    let names = number(file, 0x3e, 2)?;
    let header = |index: usize| file.get(table + index * size..table + (index + 1) * size);
    let contents = |header: &[u8]| {
        // SHT_NOBITS: a size without contents.
        if number(header, 4, 4)? == 8 {
            return header.get(32..40).map(|_| &file[..0]);
        }
        let start = number(header, 24, 8)?;
        file.get(start..start.checked_add(number(header, 32, 8)?)?)
    };
    let strings = contents(header(names)?)?;
    let section = |index| {
        let header = header(index)?;
        let name = strings.get(number(header, 0, 4)?..)?.split(|byte| *byte == 0).next()?;
        Some((String::from_utf8_lossy(name).into_owned(), contents(header)?))
    };
    (0..count).map(section).collect()
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + size)?;
    usize::try_from(bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))).ok()
}

#[cfg(test)]
mod tests {
    use super::differences;

    /// An ELF file with a null section, one section of this name and contents, and the section names.
    fn elf(name: &str, contents: &[u8]) -> Vec<u8> {
        let names = format!("\0{name}\0.shstrtab\0").into_bytes();
        let mut file = vec![0; 64];
        let (first, second) = (file.len(), file.len() + contents.len());
        file.extend_from_slice(contents);
        file.extend_from_slice(&names);
        file.resize(file.len().next_multiple_of(8), 0);
        let table = file.len() as u64;
        let headers = [
            (0, 0, 0, 0),
            (1, 1, first as u64, contents.len() as u64),
            (2 + name.len() as u32, 3, second as u64, names.len() as u64),
        ];
        for (name, kind, offset, size) in headers {
            let start = file.len();
            file.resize(start + 64, 0);
            file[start..start + 4].copy_from_slice(&u32::to_le_bytes(name));
            file[start + 4..start + 8].copy_from_slice(&u32::to_le_bytes(kind));
            file[start + 24..start + 32].copy_from_slice(&u64::to_le_bytes(offset));
            file[start + 32..start + 40].copy_from_slice(&u64::to_le_bytes(size));
        }
        file[0x28..0x30].copy_from_slice(&table.to_le_bytes());
        file[0x3a..0x3c].copy_from_slice(&64u16.to_le_bytes());
        file[0x3c..0x3e].copy_from_slice(&3u16.to_le_bytes());
        file[0x3e..0x40].copy_from_slice(&2u16.to_le_bytes());
        file
    }

    #[test]
    fn code_counts_and_the_text_does_not() {
        let code = elf(".text.k", b"abcd");
        assert!(differences(&code, &elf(".text.k", b"abcd")).is_empty());
        assert_eq!(differences(&code, &elf(".text.k", b"abce")), [".text.k"]);
        assert_eq!(differences(&code, &elf(".text.j", b"abcd")).len(), 1);
        assert!(differences(&elf(".nv_debug_ptx_txt", b"abcd"), &elf(".nv_debug_ptx_txt", b"xy")).is_empty());
        assert_eq!(differences(&code, b"no file"), ["no ELF file"]);
    }
}
