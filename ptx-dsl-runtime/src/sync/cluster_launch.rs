//! The response of `clusterlaunchcontrol.try_cancel`: 16 bytes that only this host reads.

/// The magic number in the low word of every response. The lowest bit says "cancelled".
const MARK: u64 = 0x4c43_7370_6f6e_7365 & !1;

/// The 16 bytes of a response: `Some(ctaid)` of the first CTA of the cancelled cluster, `None` for a failure.
pub fn encode(cancelled: Option<[u32; 3]>) -> [u64; 2] {
    match cancelled {
        // the first dimension of a grid takes 31 bits, the others 16
        Some([x, y, z]) => [MARK | 1, u64::from(x) | u64::from(y as u16) << 32 | u64::from(z as u16) << 48],
        None => [MARK, 0],
    }
}

/// Decodes a response; `None` for bytes that are not one.
pub fn decode([low, high]: [u64; 2]) -> Option<Option<[u32; 3]>> {
    match low {
        MARK => Some(None),
        _ if low == MARK | 1 => Some(Some([high as u32, u32::from((high >> 32) as u16), (high >> 48) as u32])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_come_back() {
        for ctaid in [[0, 0, 0], [1, 2, 3], [0x7fff_ffff, 65535, 65535], [0, 65535, 0]] {
            assert_eq!(decode(encode(Some(ctaid))), Some(Some(ctaid)));
        }
        assert_eq!(decode(encode(None)), Some(None));
    }

    #[test]
    fn other_bytes_are_no_response() {
        for bytes in [[0, 0], [u64::MAX, u64::MAX], [1, 0], [0, 1]] {
            assert_eq!(decode(bytes), None);
        }
    }
}
