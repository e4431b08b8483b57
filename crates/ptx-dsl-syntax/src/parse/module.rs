//! Parses module scope (PTX ISA 4.2, 5.4.8, 11.1): version, target, variables, functions, and other directives.

use super::directive::{self, Place};
use super::header::{architecture, is_architecture};
use super::{Parser, Res, errors};
use crate::ast::{Function, Item, Module, VarDecl, Word};
use crate::span::Span;
use crate::token::Tok;

/// State spaces that begin a declaration.
pub(crate) const SPACES: [&str; 8] = ["reg", "sreg", "const", "global", "local", "param", "shared", "tex"];
/// Linking directives.
pub(super) const LINKAGE: [&str; 4] = ["extern", "visible", "weak", "common"];

impl Parser<'_> {
    pub(super) fn module(&mut self, module: &mut Module) {
        while self.peek().is_some() {
            let start = self.pos;
            self.unwinding = false;
            if self.item(module).is_err() {
                self.skip_item(start);
            }
            if self.pos == start {
                self.pos += 1;
            }
        }
    }

    fn item(&mut self, module: &mut Module) -> Res<()> {
        let start = self.here();
        if self.is('@') && self.is_at(1, '@') {
            let d = self.dwarf()?;
            module.items.push(Item::Directive(d));
            return Ok(());
        }
        if self.at_regions() {
            self.regions();
            return Ok(());
        }
        if self.at_tiles() {
            let var = self.tiles()?;
            self.note_alignment(&var);
            module.items.push(Item::Var(var));
            return Ok(());
        }
        if self.at_layout() {
            let layout = self.layout()?;
            module.layouts.push(layout);
            return Ok(());
        }
        if self.at_assertion() {
            return self.assertion();
        }
        if self.at_constant() {
            self.constant_declaration()?;
            return self.semicolon();
        }
        match self.dotted() {
            Some("version") => self.module_version(module),
            Some("target") => self.module_target(module),
            Some("address_size") => self.module_address_size(module),
            Some(name) if LINKAGE.contains(&name) || name == "entry" || name == "func" || self.begins_declaration() => {
                let linkage = self.linkage()?;
                match self.dotted() {
                    Some("entry" | "func") => {
                        let (constants, regions) = (self.scope.open(), self.regions.len());
                        let f = self.function(linkage, start);
                        self.scope.close(constants);
                        let f = f?;
                        for region in &mut self.regions[regions..] {
                            region.function = Some(f.name.text.clone());
                        }
                        module.items.push(Item::Function(f));
                        Ok(())
                    }
                    _ => {
                        let var = self.variable(linkage, start)?;
                        self.note_alignment(&var);
                        module.items.push(Item::Var(var));
                        Ok(())
                    }
                }
            }
            Some(name) => {
                let d = self.directive(name, Place::Module)?;
                module.items.push(Item::Directive(d));
                Ok(())
            }
            None => {
                let found = self.found();
                if let Some(d) = self.item_of_c() {
                    if self.eat(';') {
                        self.report(d);
                        return Ok(());
                    }
                    return self.fail(d);
                }
                match self.peek() {
                    Some(Tok::Punct('}' | ')' | ']')) => self.fail(errors::stray_close(start, &found)),
                    Some(Tok::Punct('#')) => self.rust_attribute(false),
                    _ if self.is_bare_header() => self.bare_header(module),
                    Some(Tok::Word(word)) if word == "pub" && self.in_rust => self.visibility(),
                    _ => self.fail(errors::outside_function(start, &found)),
                }
            }
        }
    }

    /// Reports `#[allow(...)]`; what is after it is read as it is. A comment for documentation is one of PTX too.
    pub(super) fn rust_attribute(&mut self, in_body: bool) -> Res<()> {
        let start = self.bump();
        self.eat('!');
        let name = self.word_at(1).unwrap_or_default().to_owned();
        self.skip_group();
        if name != "doc" {
            self.report(errors::rust_attribute(start.to(self.before()), &name, in_body));
        }
        Ok(())
    }

    /// Skips brackets with what is in them.
    fn skip_group(&mut self) {
        let mut depth = 0u32;
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct('(' | '[' | '{') => depth += 1,
                Tok::Punct(')' | ']' | '}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && !matches!(tok, Tok::Punct(')' | ']' | '}')) {
                return;
            }
            self.pos += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Reports `pub` or `pub(crate)`; what is after it is read as it is.
    fn visibility(&mut self) -> Res<()> {
        let start = self.bump();
        if self.is('(') {
            self.skip_group();
        }
        self.report(errors::visibility(start.to(self.before())));
        Ok(())
    }

    pub(super) fn linkage(&mut self) -> Res<Vec<Word>> {
        let mut linkage = Vec::new();
        while let Some(name) = self.dotted()
            && LINKAGE.contains(&name)
        {
            linkage.push(self.dot_word()?);
        }
        Ok(linkage)
    }

    /// Does the directive here begin a function? Then a `}` is missing before it.
    pub(super) fn starts_function(&self) -> bool {
        let mut n = 0;
        while self.is_at(n, '.') && n < 8 {
            match self.word_at(n + 1) {
                Some("entry" | "func") => return true,
                Some(w) if LINKAGE.contains(&w) => n += 2,
                _ => return false,
            }
        }
        false
    }

    /// After a broken item: skips to the next directive of the module, past a `;` or a whole `{ ... }`.
    fn skip_item(&mut self, start: usize) {
        // A diagnostic may have been given at the very first token.
        self.pos = self.pos.max(start + 1);
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct('{') => {
                    self.skip_braces();
                    return;
                }
                Tok::Punct(';') if self.is_at(1, '.') || self.peek_at(1).is_none() => {
                    self.pos += 1;
                    return;
                }
                Tok::Punct('.')
                    if (!self.glued_at(0) || matches!(self.tokens[self.pos - 1].kind, Tok::Punct('}' | ';')))
                        && self.word_at(1).is_some_and(directive::at_module) =>
                {
                    return;
                }
                _ => {}
            }
            self.pos += 1;
        }
    }

    /// Skips a balanced `{ ... }` without recursion.
    pub(super) fn skip_braces(&mut self) {
        let mut open = 0u32;
        while let Some(tok) = self.peek() {
            self.pos += 1;
            match tok {
                Tok::Punct('{') => open += 1,
                Tok::Punct('}') => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn module_version(&mut self, module: &mut Module) -> Res<()> {
        let start = self.dot_word()?.span;
        self.must_be_first(module, start, "version");
        let mut version = self.version()?;
        version.span = start.to(version.span);
        match self.version_seen.replace(version.span) {
            Some(first) if module.items.is_empty() => {
                return self.fail(errors::twice(version.span, "`.version`", first));
            }
            None if self.target_seen => self.report(errors::version_first(start)),
            _ => {}
        }
        match module.version {
            None => module.version = Some(version),
            Some(v) if (v.major, v.minor) != (version.major, version.minor) => {
                let here = format!("{}.{}", version.major, version.minor);
                let there = format!("ptx {}.{}", v.major, v.minor);
                return self.fail(errors::disagree(version.span, "version", &here, v.span, &there));
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Version, target and address size come before everything else.
    fn must_be_first(&mut self, module: &Module, span: Span, name: &str) {
        if !module.items.is_empty() {
            self.report(errors::late_header(span, name));
        }
    }

    fn module_target(&mut self, module: &mut Module) -> Res<()> {
        let start = self.dot_word()?.span;
        self.must_be_first(module, start, "target");
        self.target_seen = true;
        loop {
            let word = self.name("a target such as `sm_90a`")?;
            let proper = is_architecture(&word.text);
            match architecture(&module.target) {
                Some(first) if proper && first.text != word.text => {
                    let d = errors::disagree(word.span, "target", &word.text, first.span, &first.text);
                    self.report(d);
                }
                _ if module.target.iter().any(|t| t.text == word.text) => {}
                // The target proper stands first.
                None if proper => module.target.insert(0, word),
                _ => module.target.push(word),
            }
            if !self.eat(',') {
                return Ok(());
            }
        }
    }

    fn module_address_size(&mut self, module: &mut Module) -> Res<()> {
        let start = self.dot_word()?.span;
        self.must_be_first(module, start, "address_size");
        let (size, span) = self.number_argument("`32` or `64`")?;
        let span = start.to(span);
        match module.address_size {
            None => module.address_size = Some((u32::try_from(size).unwrap_or(u32::MAX), span)),
            Some((old, first)) if u64::from(old) != size => {
                let there = format!(".address_size {old}");
                return self.fail(errors::disagree(span, "address_size", &size.to_string(), first, &there));
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// `.entry` or `.func` with everything that belongs to it (PTX ISA 5.4.8, 7.1, 11.2).
    fn function(&mut self, linkage: Vec<Word>, start: Span) -> Res<Function> {
        let keyword = self.dot_word()?;
        let mut function = Function {
            linkage,
            entry: keyword.text == ".entry",
            name: Word { text: String::new(), span: keyword.span },
            span: start.to(keyword.span),
            ..Function::default()
        };
        if self.signature(&mut function).is_err() {
            // Broken, but the body is still worth reading.
            while let Some(tok) = self.peek() {
                if matches!(tok, Tok::Punct('{' | ';' | '}')) || self.starts_function() {
                    break;
                }
                self.pos += 1;
            }
            if function.name.text.is_empty() {
                let instrs = self.instrs;
                if self.is('{') {
                    let open = self.bump();
                    self.body(open);
                }
                self.instrs = instrs;
                return Err(super::Stop);
            }
        }
        function.span = start.to(self.before());
        if self.is('{') {
            let open = self.bump();
            function.body = Some(self.body(open));
            function.end = self.before();
        } else if self.is(';') {
            let semicolon = self.bump();
            if self.is('{') {
                self.report(errors::body_after_semicolon(semicolon));
                let open = self.bump();
                function.body = Some(self.body(open));
            }
        } else if function.entry || !self.ends_declaration() {
            if self.peek().is_none() || self.dotted().is_some() {
                self.missing_semicolon();
            } else {
                self.unexpected::<()>("`{` or `;` after the signature")?;
            }
        }
        Ok(function)
    }

    /// Does the next item of the module, or the end of input, follow? The declaration of a `.func` needs no `;` before it:
    /// compilers of PTX ISA 1 to 3 wrote none, and ptxas still accepts that.
    fn ends_declaration(&self) -> bool {
        match self.dotted() {
            // It has a `;` itself, so that what follows tells whether it stands before a body.
            Some("pragma") => {
                let mut n = 2;
                while !self.is_at(n, ';') && self.peek_at(n).is_some() {
                    n += 1;
                }
                !self.is_at(n + 1, '{')
            }
            Some(name) => directive::at_module(name) || self.begins_declaration(),
            None => self.peek().is_none(),
        }
    }

    fn signature(&mut self, function: &mut Function) -> Res<()> {
        self.function_directives(function)?;
        if self.is('(') {
            function.rets = self.params(false)?;
        }
        self.no_sink()?;
        function.name = self.name("the name of a function")?;
        if self.is('<') {
            self.const_parameters(function)?;
        }
        // `.noreturn` before the parameters is the manual's order, after them ptxas'.
        self.function_directives(function)?;
        if self.is('(') {
            function.params = self.params(function.entry)?;
        }
        self.function_directives(function)
    }

    fn function_directives(&mut self, function: &mut Function) -> Res<()> {
        while self.is('.') {
            if self.dotted() == Some("attribute") {
                let attribute = self.attribute()?;
                match &function.attribute {
                    Some(first) => {
                        let d = errors::twice(attribute.span, "`.attribute`", first.span);
                        self.report(d);
                    }
                    None => function.attribute = Some(attribute),
                }
                continue;
            }
            if self.starts_function() || !function.entry && self.ends_declaration() {
                return Ok(());
            }
            match self.dotted() {
                Some(name) => {
                    let start = self.pos;
                    match self.directive(name, Place::Function) {
                        Ok(d) => function.directives.push(d),
                        Err(_) => self.skip_function_directive(start),
                    }
                }
                None => return self.unexpected("a directive"),
            }
        }
        Ok(())
    }

    /// After a broken directive between parameters and body: skips to the next one, or to the body.
    fn skip_function_directive(&mut self, start: usize) {
        self.pos = self.pos.max(start + 1);
        while let Some(tok) = self.peek() {
            match tok {
                // The `;` of a broken `.pragma` is not an end of the signature.
                Tok::Punct(';') if self.is_at(1, '{') || self.is_at(1, '.') && !self.glued_at(1) => {
                    self.pos += 1;
                    return;
                }
                Tok::Punct('{' | ';' | '}') => return,
                Tok::Punct('.') if !self.glued_at(0) => return,
                _ => self.pos += 1,
            }
        }
    }

    /// `( parameters )`. `late`: their alignment may follow the type.
    pub(super) fn params(&mut self, late: bool) -> Res<Vec<VarDecl>> {
        let open = self.expect('(')?;
        let mut params = Vec::new();
        loop {
            if self.eat(')') {
                return Ok(params);
            }
            match self.parameter(late) {
                Ok(p) => params.push(p),
                Err(_) => self.skip_in_list(')', true),
            }
            if self.eat(',') {
                if self.is(')') {
                    self.unexpected::<()>("a parameter")?;
                }
                continue;
            }
            if self.is(')') {
                continue;
            }
            if self.peek().is_none() || matches!(self.peek(), Some(Tok::Punct(';' | '{' | '}'))) {
                return self.fail(errors::unclosed(open, '('));
            }
            let (span, found) = (self.there(), self.found());
            self.report(errors::expected(span, "`,` or `)`", &found));
            self.skip_in_list(')', true);
            if !self.is(')') && !self.eat(',') {
                return Err(super::Stop);
            }
        }
    }
}
