//! Which bytes may stand where, as a table.

const LETTER: u8 = 1;
const NAME: u8 = 2;
const DIGIT: u8 = 4;
const PATH: u8 = 8;
const SCHEME: u8 = 16;
const URI: u8 = 32;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        let mut class = 0;
        if b.is_ascii_alphabetic() {
            class |= LETTER | NAME | PATH | SCHEME | URI;
        }
        if b.is_ascii_digit() {
            class |= DIGIT | NAME | PATH | SCHEME | URI;
        }
        class |= match b {
            b'_' => LETTER | NAME | PATH | URI,
            b'\'' => NAME | URI,
            b'-' => NAME | PATH | SCHEME | URI,
            b'.' | b'+' => PATH | SCHEME | URI,
            b'%' | b'/' | b'?' | b':' | b'@' | b'&' | b'=' | b'$' | b',' | b'!' | b'~' | b'*' => {
                URI
            }
            _ => 0,
        };
        table[byte] = class;
        byte += 1;
    }
    table
}

macro_rules! tests {
    ($($name:ident $class:ident $what:literal)*) => {
        $(
            #[doc = concat!("Returns whether the byte may ", $what, ".")]
            #[inline]
            pub(crate) fn $name(byte: u8) -> bool {
                CLASSES[byte as usize] & $class != 0
            }
        )*
    };
}

tests! {
    is_letter LETTER "begin a name"
    is_name NAME "continue a name"
    is_digit DIGIT "be part of a number"
    is_path PATH "be part of a path, besides the slash"
    is_scheme SCHEME "be part of a URI's scheme"
    is_uri URI "follow the colon of a URI"
}
