//! Arguments of a launch: types and sizes from the command line, or else from the module.

use std::ops::Range;

use ptx_dsl::load::{Kernel, Parameter, Pointee, Ty};

use super::array_type;
use super::data::{Data, Element, encode, is_bits, is_element};
use super::npy::{self, is_npy, is_npz};
use super::spec::{Argument, Named};
use super::tensor_map::Mapped;

/// The value of a parameter.
#[derive(Debug, Clone)]
pub enum Value {
    /// An address of this.
    Buffer(Data),
    /// The bytes of the parameter.
    Bytes(Vec<u8>),
    /// A tensor map of this.
    TensorMap(Mapped),
}

impl Value {
    /// The elements that a kernel may change.
    pub fn data(&self) -> Option<&Data> {
        match self {
            Value::Buffer(data) => Some(data),
            Value::TensorMap(map) if map.of.is_none() => Some(&map.data),
            Value::Bytes(_) | Value::TensorMap(_) => None,
        }
    }
}

/// A parameter by its name, or its position: no name begins with a digit.
fn parameter<'k>(kernel: &'k Kernel, name: &str) -> Result<(usize, &'k Parameter), String> {
    let at = match name.parse() {
        Ok(at) => at,
        Err(_) => kernel.parameters().iter().position(|p| p.name == name).unwrap_or(usize::MAX),
    };
    match (kernel.parameters().get(at), kernel.arg(name)) {
        (Some(p), _) => Ok((at, p)),
        (None, Err(e)) => Err(e.to_string()),
        (None, Ok(p)) => Err(format!("no parameter `{}`", p.name)),
    }
}

/// The arguments in the order of the parameters; `None` for those that are missing.
pub fn by_parameter<'a>(kernel: &Kernel, given: &[&'a Named<Argument>]) -> Result<Vec<Option<&'a Argument>>, String> {
    let mut all = vec![None; kernel.parameters().len()];
    for g in given {
        let (at, p) = parameter(kernel, &g.name)?;
        if all[at].replace(&g.value).is_some() {
            return Err(format!("two values for `{}`", p.name));
        }
    }
    Ok(all)
}

/// The values of all parameters, in their order.
pub fn values(kernel: &Kernel, given: &[&Argument]) -> Result<Vec<Value>, String> {
    let error = |parameter: &Parameter, e: String| format!("`--arg {}`: {e}", parameter.name);
    let all = kernel.parameters().iter().zip(kernel.pointees()).zip(given);
    let values = all.map(|((parameter, pointee), given)| {
        value(parameter, pointee.as_ref(), given).map_err(|e| error(parameter, e))
    });
    let mut values: Vec<Value> = values.collect::<Result<_, _>>()?;
    for at in 0..values.len() {
        let Value::TensorMap(map) = &values[at] else { continue };
        let parameter = &kernel.parameters()[at];
        let data = match &map.of {
            Some(of) => Some(buffer(kernel, &values, of).map_err(|e| error(parameter, e))?),
            None => None,
        };
        let data = data.map(|data| Data { bytes: Vec::new(), shape: data.shape.clone(), ..*data });
        if let Value::TensorMap(map) = &mut values[at] {
            map.data = data.unwrap_or_else(|| std::mem::replace(&mut map.data, Data::empty()));
            map.map().map_err(|e| error(parameter, e))?;
        }
    }
    Ok(values)
}

fn value(parameter: &Parameter, pointee: Option<&Pointee>, argument: &Argument) -> Result<Value, String> {
    let size = parameter.size as usize;
    let data = match argument {
        // a launch puts a map for a pointer into memory of its own
        Argument::TensorMap { .. } if size != 128 && parameter.pointer.is_none() => {
            return Err(format!("the kernel wants {parameter}, not a tensor map"));
        }
        Argument::TensorMap { tensor, fields } => {
            let (data, of) = match &**tensor {
                Argument::Name(name) => (Data::empty(), Some(name.clone())),
                tensor if !fields.have_type() && !has_type(tensor) => {
                    return Err("the type of the tensor's elements is missing: write it, as in `f16[64,64]`".into());
                }
                tensor => (data(parameter, None, tensor)?, None),
            };
            return Ok(Value::TensorMap(Mapped { fields: fields.clone(), data, of }));
        }
        Argument::Null if parameter.takes_buffer() => return Ok(Value::Bytes(vec![0; size])),
        Argument::Null => return Err(format!("the kernel wants {parameter}, not an address")),
        Argument::Number { ty, text } => {
            if parameter.pointer.is_some() || parameter.is_array {
                return Err(format!("the kernel wants {parameter}; write the type and number of elements"));
            }
            let bytes = encode(ty.unwrap_or(parameter.ty.into()), text)?;
            let ty = ty.map(|ty| ty.ty);
            if let Some(ty) = ty.filter(|ty| ty.bits() == parameter.ty.bits() && !fits(*ty, parameter.ty)) {
                return Err(other_class(parameter, ty, text, &bytes));
            }
            return by_value(parameter, bytes);
        }
        argument => data(parameter, pointee, argument)?,
    };
    if let Argument::File { path, ty: None, .. } = argument
        && is_npy(path)
    {
        array_type::check_file(parameter, pointee, path, &data)?;
    }
    if !parameter.takes_buffer() {
        return by_value(parameter, data.bytes);
    }
    array_type::check(parameter, pointee, data.ty)?;
    Ok(Value::Buffer(data))
}

/// Does it say of what type its elements are? An array of NumPy does.
fn has_type(argument: &Argument) -> bool {
    match argument {
        Argument::New { ty, .. } => ty.is_some(),
        Argument::File { path, ty, .. } => ty.is_some() || is_npy(path),
        _ => true,
    }
}

/// New elements, or those of a file.
fn data(parameter: &Parameter, pointee: Option<&Pointee>, argument: &Argument) -> Result<Data, String> {
    match argument {
        Argument::New { ty, shape, init } => {
            let ty = ty.or_else(|| element(parameter, pointee).map(Element::from)).ok_or_else(|| untyped(parameter))?;
            Data::new(ty, shape, init)
        }
        Argument::File { path, ty: None, .. } if is_npz(path) => {
            Err(format!("`{path}` is an archive of arrays: write one of them with `numpy.save`"))
        }
        Argument::File { path, ty, shape } => {
            let bytes = crate::input::read(path.as_ref()).map_err(|e| unreadable(path, &e))?;
            from_file(parameter, pointee, bytes, *ty, shape.as_deref(), is_npy(path))
                .map_err(|e| format!("`{path}`: {e}"))
        }
        _ => Err(format!("the kernel wants {parameter}")),
    }
}

/// A file that cannot be read. Is the end of its name meant as a type?
fn unreadable(path: &str, error: &std::io::Error) -> String {
    let typed = path.rsplit_once(':').filter(|(file, _)| std::path::Path::new(file).exists());
    let help = typed.map(|(_, ty)| format!("; `{ty}` is not a type of elements, such as `f32` or `f32[1024]`"));
    format!("cannot read `{path}`: {error}{}", help.unwrap_or_default())
}

/// Can a value of one type be passed as the other, of the same width? The bits of a float are no integer, but `.b32` is any bits.
fn fits(given: Ty, wanted: Ty) -> bool {
    is_bits(given) || is_bits(wanted) || given.is_float() == wanted.is_float()
}

/// A float for an integer, or the other way round.
fn other_class(parameter: &Parameter, given: Ty, text: &str, bytes: &[u8]) -> String {
    let name = &parameter.name;
    let bits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
    let number = match encode(parameter.ty, text) {
        Ok(_) => format!("`{name}={text}` for the number, or "),
        Err(_) => String::new(),
    };
    format!(
        "the kernel wants {parameter}, not of `.{}`; write {number}`{name}=b{}:0x{bits}` for its bits",
        given.name(),
        given.bits(),
    )
}

fn by_value(parameter: &Parameter, bytes: Vec<u8>) -> Result<Value, String> {
    if bytes.len() != parameter.size as usize {
        let size = if parameter.is_array { String::new() } else { format!(" ({} bytes)", parameter.size) };
        return Err(format!("{} bytes, but the kernel wants {parameter}{size}", bytes.len()));
    }
    Ok(Value::Bytes(bytes))
}

fn from_file(
    parameter: &Parameter,
    pointee: Option<&Pointee>,
    bytes: Vec<u8>,
    ty: Option<Element>,
    shape: Option<&[u64]>,
    npy: bool,
) -> Result<Data, String> {
    let mut data = if npy {
        npy::read(&bytes)?
    } else {
        let ty = ty.or_else(|| element(parameter, pointee).map(Element::from)).ok_or_else(|| untyped(parameter))?;
        Data::from_bytes(ty, bytes)?
    };
    if let Some(ty) = ty {
        if ty.ty.bits() != data.ty.bits() {
            return Err(format!("the elements are `.{}`, not `.{}`", data.ty.name(), ty.name()));
        }
        (data.ty, data.small) = (ty.ty, ty.small);
    }
    if let Some(shape) = shape {
        if shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d)) != Some(data.len()) {
            return Err(format!("it has {} elements of `.{}`", data.len(), data.element().name()));
        }
        data.shape = shape.to_vec();
    }
    Ok(data)
}

/// The type of elements that the module says.
pub fn element(parameter: &Parameter, pointee: Option<&Pointee>) -> Option<Ty> {
    let declared = parameter.pointer.as_ref().and_then(|p| p.element);
    let by_value = (!parameter.takes_buffer()).then_some(parameter.ty);
    declared.or(by_value).or(pointee.and_then(|p| p.element)).filter(|ty| is_element(*ty))
}

fn untyped(parameter: &Parameter) -> String {
    format!("the module does not say of what type the elements are; write it, as in `{}=f32[1024]`", parameter.name)
}

/// The buffer of a parameter.
pub fn buffer<'v>(kernel: &Kernel, values: &'v [Value], name: &str) -> Result<&'v Data, String> {
    let value = values.get(parameter(kernel, name)?.0);
    value.and_then(Value::data).ok_or_else(|| format!("`{name}` is not a buffer"))
}

/// The position of a parameter that is a buffer.
pub fn position(kernel: &Kernel, values: &[Value], name: &str) -> Result<usize, String> {
    buffer(kernel, values, name)?;
    Ok(parameter(kernel, name)?.0)
}

/// Are there these elements? Returns the end of the range.
pub fn within(name: &str, data: &Data, range: &Range<u64>) -> Result<u64, String> {
    let end = if range.end == u64::MAX { data.len() } else { range.end };
    if range.start > end || end > data.len() {
        return Err(format!("`{name}` has {} elements", data.len()));
    }
    Ok(end)
}

/// Elements in words, eight on a line.
pub fn show(name: &str, data: &Data, range: Range<u64>) -> Result<String, String> {
    let end = within(name, data, &range)?;
    let mut text = String::new();
    let mut first = range.start;
    while first < end {
        let last = end.min(first + 8);
        let row: Vec<String> = (first..last).map(|i| data.show(i)).collect();
        text += &format!("{name}[{first}..{last}]: {}\n", row.join(" "));
        first = last;
    }
    Ok(text)
}
