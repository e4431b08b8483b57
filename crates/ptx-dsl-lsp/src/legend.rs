//! The names of kinds of words in the protocol.

use lsp_types::{SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use ptx_dsl_editor::{SymbolKind, WordKind};

const TYPES: [SemanticTokenType; 10] = [
    SemanticTokenType::FUNCTION,
    SemanticTokenType::MODIFIER,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::MACRO,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
];

/// The bit of a declaration.
pub const DECLARATION: u32 = 1;

/// The kinds and marks that the server uses.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: vec![SemanticTokenModifier::DECLARATION] }
}

/// The number of a kind in the legend.
pub fn number(kind: WordKind) -> u32 {
    let ty = match kind {
        WordKind::Opcode | WordKind::Name(SymbolKind::Kernel | SymbolKind::Function) => SemanticTokenType::FUNCTION,
        WordKind::Qualifier => SemanticTokenType::MODIFIER,
        WordKind::Directive => SemanticTokenType::KEYWORD,
        WordKind::SpecialRegister => SemanticTokenType::MACRO,
        WordKind::Name(SymbolKind::Variable) => SemanticTokenType::PROPERTY,
        WordKind::Name(SymbolKind::Parameter) => SemanticTokenType::PARAMETER,
        WordKind::Name(SymbolKind::Label) => SemanticTokenType::ENUM_MEMBER,
        WordKind::Number => SemanticTokenType::NUMBER,
        WordKind::String => SemanticTokenType::STRING,
        _ => SemanticTokenType::VARIABLE,
    };
    TYPES.iter().position(|other| *other == ty).unwrap_or(0) as u32
}
