//! Reads litmus tests: the columns of herd, with PTX instructions.

use std::collections::BTreeMap;

use ptx_dsl_weak::condition::{Condition, Value};
use ptx_dsl_weak::event::{Order, Proxy, Scope};
use ptx_dsl_weak::program::{Access, Arithmetic, Compare, Instruction, Operand, Place, Program, Thread};

use crate::asynchronous;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantifier {
    Exists,
    NotExists,
    Forall,
}

pub struct Litmus {
    pub program: Program,
    pub quantifier: Quantifier,
    pub condition: Condition,
}

#[derive(Default)]
pub struct Names {
    pub places: BTreeMap<String, usize>,
    pub mbarriers: BTreeMap<String, usize>,
    registers: Vec<BTreeMap<String, usize>>,
}

pub type Result<T> = std::result::Result<T, String>;

pub fn read(text: &str) -> Result<Litmus> {
    let text: String = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let (_, rest) = text.split_once('{').ok_or("no initial state")?;
    let (initial, rest) = rest.split_once('}').ok_or("no end of the initial state")?;
    let end = rest.rfind(';').ok_or("no threads")?;
    let (mut code, condition) = rest.split_at(end);
    // The initial state may end with `};`.
    code = code.trim_start().trim_start_matches(';');
    let mut rows = code.split(';').map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let mut names = Names::default();
    let mut program = Program::default();
    for thread in rows.next().ok_or("no threads")? {
        program.threads.push(place_of_thread(thread)?);
        names.registers.push(BTreeMap::new());
    }
    for declaration in initial.split([';', '\n']).map(str::trim).filter(|text| !text.is_empty()) {
        declare(declaration, &mut program, &mut names)?;
    }
    let mut columns = vec![Vec::new(); program.threads.len()];
    for row in rows {
        for (column, text) in columns.iter_mut().zip(row) {
            if !text.is_empty() {
                column.push(text);
            }
        }
    }
    for (thread, column) in columns.iter().enumerate() {
        let mut labels = BTreeMap::new();
        let mut count = 0;
        for text in column {
            match text.strip_suffix(':') {
                Some(label) => drop(labels.insert(label.trim(), count)),
                None => count += 1,
            }
        }
        for text in column.iter().filter(|text| !text.ends_with(':')) {
            let instruction = instruction(text, thread, &labels, &mut program, &mut names)?;
            program.threads[thread].code.push(instruction);
        }
    }
    let condition = condition[1..].trim();
    let starts = [("~exists", Quantifier::NotExists), ("exists", Quantifier::Exists), ("forall", Quantifier::Forall)];
    let (quantifier, text) = starts
        .iter()
        .find_map(|&(start, quantifier)| condition.strip_prefix(start).map(|rest| (quantifier, rest)))
        .ok_or_else(|| format!("no condition: `{condition}`"))?;
    let mut tokens = tokens(text);
    tokens.reverse();
    let condition = either(&mut tokens, &mut program, &mut names)?;
    if let Some(left) = tokens.last() {
        return Err(format!("`{left}` after the condition"));
    }
    Ok(Litmus { program, quantifier, condition })
}

/// `P0@cta 0,cluster 0,gpu 0`
fn place_of_thread(text: &str) -> Result<Thread> {
    let (_, scopes) = text.split_once('@').ok_or_else(|| format!("not a thread: `{text}`"))?;
    let mut thread = Thread::default();
    let mut clustered = false;
    for scope in scopes.split(',') {
        let (name, value) = scope.trim().split_once(' ').ok_or("no number of a scope")?;
        let value = value.trim().parse().map_err(|_| format!("not a number: `{value}`"))?;
        match name {
            "cta" => thread.cta = value,
            "cluster" => (thread.cluster, clustered) = (value, true),
            "gpu" => thread.gpu = value,
            _ => return Err(format!("not a scope: `{name}`")),
        }
    }
    if !clustered {
        thread.cluster = thread.cta;
    }
    Ok(thread)
}

fn declare(text: &str, program: &mut Program, names: &mut Names) -> Result<()> {
    if let Some((name, rest)) = text.split_once('@') {
        let (proxy, of) = rest.split_once("aliases").ok_or("no `aliases`")?;
        let of = names.place(of.trim(), program);
        let Place { location, address, .. } = program.places[of];
        let address = if proxy.trim() == "generic" { program.places.len() } else { address };
        let name = name.trim().to_string();
        names.places.insert(name.clone(), program.places.len());
        program.places.push(Place { name, location, address });
        return Ok(());
    }
    // Several on a line: `x=0 y=0`.
    let text = text.replace('=', " = ");
    let words: Vec<_> = text.split_whitespace().collect();
    let mut words = words.iter().peekable();
    while let Some(name) = words.next() {
        if words.next() != Some(&"=") {
            return Err(format!("not a declaration: `{text}`"));
        }
        let value = words.next().ok_or("no value")?;
        if *value == "mbarrier" {
            let count = number(words.next().ok_or("no count")?)?;
            names.mbarriers.insert(name.to_string(), program.mbarriers.len());
            program.mbarriers.push(count);
        } else if let Some((thread, register)) = name.split_once(':') {
            let thread = number(thread.trim_start_matches('P'))? as usize;
            let register = names.register(thread, register.trim(), program)?;
            program.threads[thread].registers[register] = Some(number(value)?);
        } else {
            let place = names.place(name, program);
            let location = program.places[place].location;
            program.locations[location] = number(value)?;
        }
    }
    Ok(())
}

impl Names {
    pub fn place(&mut self, name: &str, program: &mut Program) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = program.places.len();
        self.places.insert(name.to_string(), place);
        program.places.push(Place { name: name.to_string(), location: program.locations.len(), address: place });
        program.locations.push(0);
        place
    }

    pub fn mbarrier(&self, name: &str) -> Result<usize> {
        self.mbarriers.get(name).copied().ok_or_else(|| format!("not an mbarrier object: `{name}`"))
    }

    pub fn register(&mut self, thread: usize, name: &str, program: &mut Program) -> Result<usize> {
        let registers = self.registers.get_mut(thread).ok_or("no such thread")?;
        let next = registers.len();
        let register = *registers.entry(name.to_string()).or_insert(next);
        if register == next {
            program.threads[thread].registers.push(None);
        }
        Ok(register)
    }

    fn operand(&mut self, thread: usize, text: &str, program: &mut Program) -> Result<Operand> {
        if text.starts_with('r') {
            return Ok(Operand::Register(self.register(thread, text, program)?));
        }
        Ok(Operand::Constant(number(text)?))
    }
}

pub fn number(text: &str) -> Result<i64> {
    text.parse().map_err(|_| format!("not a number: `{text}`"))
}

fn instruction(
    text: &str,
    thread: usize,
    labels: &BTreeMap<&str, usize>,
    program: &mut Program,
    names: &mut Names,
) -> Result<Instruction> {
    let (name, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let operands: Vec<_> = operands.split(',').map(str::trim).filter(|text| !text.is_empty()).collect();
    let parts: Vec<_> = name.split('.').collect();
    if let Some(instruction) = asynchronous::instruction(name, &operands, thread, program, names)? {
        return Ok(instruction);
    }
    let operand = |i: usize| operands.get(i).copied().ok_or_else(|| format!("too few operands: `{text}`"));
    let access = |proxy| Access { order: order(&parts), scope: scope(&parts), proxy };
    let proxy = match parts[0] {
        "tld" => Proxy::Texture,
        "suld" | "sust" | "suatom" | "sured" => Proxy::Surface,
        "cold" => Proxy::Constant,
        _ => Proxy::Generic,
    };
    let arithmetic = |name: &str| match name {
        "add" => Some(Arithmetic::Add),
        "sub" => Some(Arithmetic::Sub),
        "mul" => Some(Arithmetic::Mul),
        "div" => Some(Arithmetic::Div),
        "and" => Some(Arithmetic::And),
        "or" => Some(Arithmetic::Or),
        "xor" => Some(Arithmetic::Xor),
        "exch" | "cas" => Some(Arithmetic::Second),
        _ => None,
    };
    Ok(match parts[0] {
        "ld" | "tld" | "suld" | "cold" => {
            let register = names.register(thread, operand(0)?, program)?;
            if parts.len() == 1 {
                let b = names.operand(thread, operand(1)?, program)?;
                return Ok(Instruction::Compute {
                    register,
                    operation: Arithmetic::Second,
                    a: Operand::Constant(0),
                    b,
                });
            }
            Instruction::Load { register, place: names.place(operand(1)?, program), access: access(proxy) }
        }
        "st" | "sust" => {
            let value = names.operand(thread, operand(1)?, program)?;
            Instruction::Store { place: names.place(operand(0)?, program), value, access: access(proxy) }
        }
        "atom" | "suatom" | "red" | "sured" => {
            let operation =
                parts.last().and_then(|name| arithmetic(name)).ok_or_else(|| format!("no operation: `{text}`"))?;
            let returns = parts[0].ends_with("atom");
            let at = usize::from(returns);
            let register = if returns { Some(names.register(thread, operand(0)?, program)?) } else { None };
            let place = names.place(operand(at)?, program);
            let mut value = names.operand(thread, operand(at + 1)?, program)?;
            let compare = parts.contains(&"cas").then_some(value);
            if compare.is_some() {
                value = names.operand(thread, operand(at + 2)?, program)?;
            }
            Instruction::Atomic { register, place, operation, value, compare, access: access(proxy) }
        }
        "fence" if parts.get(1) == Some(&"proxy") => match parts.get(2) {
            Some(&"alias") => Instruction::AliasFence,
            Some(&"surface") => Instruction::ProxyFence(Proxy::Surface),
            Some(&"texture") => Instruction::ProxyFence(Proxy::Texture),
            Some(&"constant") => Instruction::ProxyFence(Proxy::Constant),
            Some(&"async") => Instruction::ProxyFence(Proxy::Async),
            _ => return Err(format!("no such fence: `{text}`")),
        },
        "fence" => Instruction::Fence { order: order(&parts), scope: scope(&parts).ok_or("no scope")? },
        "bar" => Instruction::Barrier {
            arrives: parts.contains(&"arrive"),
            instance: number(operand(0)?)?,
            resource: operands.get(1).map_or(Ok(Operand::Constant(0)), |text| names.operand(thread, text, program))?,
            threads: operands.get(2).map(|text| names.operand(thread, text, program)).transpose()?,
        },
        "goto" => {
            let target = *labels.get(operand(0)?).ok_or("no such label")?;
            Instruction::Branch { compare: Compare::Eq, a: Operand::Constant(0), b: Operand::Constant(0), target }
        }
        "beq" | "bne" | "blt" | "ble" | "bgt" | "bge" => Instruction::Branch {
            compare: match &parts[0][1..] {
                "eq" => Compare::Eq,
                "ne" => Compare::Ne,
                "lt" => Compare::Lt,
                "le" => Compare::Le,
                "gt" => Compare::Gt,
                _ => Compare::Ge,
            },
            a: names.operand(thread, operand(0)?, program)?,
            b: names.operand(thread, operand(1)?, program)?,
            target: *labels.get(operand(2)?).ok_or("no such label")?,
        },
        name => match arithmetic(name) {
            Some(operation) => Instruction::Compute {
                register: names.register(thread, operand(0)?, program)?,
                operation,
                a: names.operand(thread, operand(1)?, program)?,
                b: names.operand(thread, operand(2)?, program)?,
            },
            None => return Err(format!("no such instruction: `{text}`")),
        },
    })
}

pub fn order(parts: &[&str]) -> Order {
    let orders = [
        ("relaxed", Order::Relaxed),
        ("acquire", Order::Acquire),
        ("release", Order::Release),
        ("acq_rel", Order::AcqRel),
        ("sc", Order::Sc),
    ];
    orders.iter().find(|(name, _)| parts.contains(name)).map_or(Order::Weak, |&(_, order)| order)
}

pub fn scope(parts: &[&str]) -> Option<Scope> {
    let scopes = [("cta", Scope::Cta), ("cluster", Scope::Cluster), ("gpu", Scope::Gpu), ("sys", Scope::Sys)];
    scopes.iter().find(|(name, _)| parts.contains(name)).map(|&(_, scope)| scope)
}

fn tokens(text: &str) -> Vec<String> {
    let spaced = ["(", ")", "/\\", "\\/", "==", "!="]
        .iter()
        .fold(text.to_string(), |text, token| text.replace(token, &format!(" {token} ")));
    let joined = spaced.replace(": ", ":");
    joined.split_whitespace().flat_map(split_equal).collect()
}

/// `a=b` without spaces, but not `==`.
fn split_equal(word: &str) -> Vec<String> {
    match word.split_once('=') {
        Some((a, b)) if !a.is_empty() && !b.is_empty() && !a.ends_with('!') => vec![a.into(), "=".into(), b.into()],
        _ => vec![word.into()],
    }
}

fn either(tokens: &mut Vec<String>, program: &mut Program, names: &mut Names) -> Result<Condition> {
    let mut left = both(tokens, program, names)?;
    while tokens.pop_if(|token| token == "\\/").is_some() {
        left = Condition::Or(Box::new(left), Box::new(both(tokens, program, names)?));
    }
    Ok(left)
}

fn both(tokens: &mut Vec<String>, program: &mut Program, names: &mut Names) -> Result<Condition> {
    let mut left = atom(tokens, program, names)?;
    while tokens.pop_if(|token| token == "/\\").is_some() {
        left = Condition::And(Box::new(left), Box::new(atom(tokens, program, names)?));
    }
    Ok(left)
}

fn atom(tokens: &mut Vec<String>, program: &mut Program, names: &mut Names) -> Result<Condition> {
    if tokens.pop_if(|token| token == "(").is_some() {
        let inner = either(tokens, program, names)?;
        return tokens.pop_if(|token| token == ")").map(|_| inner).ok_or("no `)`".into());
    }
    let a = value(&tokens.pop().ok_or("no value")?, program, names)?;
    let compare = match tokens.pop().as_deref() {
        Some("=" | "==") => Compare::Eq,
        Some("!=") => Compare::Ne,
        other => return Err(format!("not a comparison: {other:?}")),
    };
    Ok(Condition::Compare(compare, a, value(&tokens.pop().ok_or("no value")?, program, names)?))
}

fn value(text: &str, program: &mut Program, names: &mut Names) -> Result<Value> {
    if let Some((thread, register)) = text.split_once(':') {
        let thread = number(thread.trim_start_matches('P'))? as usize;
        return Ok(Value::Register(thread, names.register(thread, register, program)?));
    }
    if let Ok(constant) = text.parse() {
        return Ok(Value::Constant(constant));
    }
    let place = *names.places.get(text).ok_or_else(|| format!("no such place: `{text}`"))?;
    Ok(Value::Location(program.places[place].location))
}
