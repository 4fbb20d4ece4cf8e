// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// The charsets that are decoded without the C library, each with what the standard library reads.
private let plain: [(label: String, read: @Sendable ([UInt8]) -> String?)] = [
    (
        "utf-8",
        { String(validating: $0.starts(with: [0xEF, 0xBB, 0xBF]) ? Array($0.dropFirst(3)) : $0, as: UTF8.self) }
    ),
    ("us-ascii", { String(validating: $0, as: Unicode.ASCII.self) }),
    ("iso-8859-1", { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) }),
    (
        "x-user-defined",
        { String(String.UnicodeScalarView($0.map { $0 < 0x80 ? Unicode.Scalar($0) : userDefined($0) })) }
    ),
    ("utf-16", { units($0, isBigEndian: true, as: UTF16.self) }),
    ("utf-16be", { units($0, isBigEndian: true, as: UTF16.self) }),
    ("utf-16le", { units($0, isBigEndian: false, as: UTF16.self) }),
    ("utf-32", { units($0, isBigEndian: true, as: UTF32.self) }),
    ("utf-32be", { units($0, isBigEndian: true, as: UTF32.self) }),
    ("utf-32le", { units($0, isBigEndian: false, as: UTF32.self) }),
]

/// The charsets with one byte a character.
private let singleByte = [
    "windows-1252", "iso-8859-2", "iso-8859-3", "iso-8859-4", "windows-1254", "iso-8859-10", "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15", "iso-8859-16", "windows-1250", "windows-1257", "macintosh", "ibm866", "iso-8859-5", "koi8-r",
    "koi8-u",
    "windows-1251", "x-mac-cyrillic", "iso-8859-6", "windows-1256", "iso-8859-7", "windows-1253", "iso-8859-8",
    "iso-8859-8-i", "windows-874",
]

/// The charsets of several bytes a character, without a state. In Vietnamese and Hebrew, a letter is joined with its
/// mark.
private let multiByte = ["gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"]
private let joining = ["windows-1258", "windows-1255", "iso-2022-jp"]

/// Decodes the input in the charset that the first byte selects. The text is the standard library's, the text of each
/// byte in turn, or that of two parts; it is at most three times as long.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCharset(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
    let labels = plain.map(\.label) + singleByte + multiByte + joining
    let label = labels[Int(data[0]) % labels.count]
    let text = decode(bytes[...], label)
    guard (text?.reduce(0) { $0 + UTF8.width($1) } ?? 0) <= 3 * bytes.count else { fatalError("The text is too long.") }
    if let read = plain.first(where: { $0.label == label })?.read {
        guard text == read(bytes).map({ Array($0.unicodeScalars) }) else {
            fatalError("The text in \(label) is another.")
        }
    } else if singleByte.contains(label) {
        guard text == characters(bytes, label) else { fatalError("The text in \(label) is another.") }
    } else if multiByte.contains(label) {
        checkParts(bytes, label, text)
    }
    return 0
}

/// The scalars of a text: strings are equal if they are canonically equivalent.
private func decode(_ bytes: ArraySlice<UInt8>, _ label: String) -> [Unicode.Scalar]? {
    guard let charset = Charset(name: label) else { fatalError("\(label) is unknown.") }
    return charset.decode(bytes).map { Array($0.unicodeScalars) }
}

/// What the bytes mean, one by one.
private func characters(_ bytes: [UInt8], _ label: String) -> [Unicode.Scalar]? {
    if tables[label] == nil { tables[label] = (0...255).map { decode([UInt8($0)], label) } }
    var text: [Unicode.Scalar] = []
    for byte in bytes {
        guard let part = tables[label]?[Int(byte)] else { return nil }
        text += part
    }
    return text
}

nonisolated(unsafe) private var tables: [String: [[Unicode.Scalar]?]] = [:]

/// Two parts that are texts are the two parts of a text.
private func checkParts(_ bytes: [UInt8], _ label: String, _ text: [Unicode.Scalar]?) {
    let step = max(1, bytes.count / 16)
    for split in stride(from: 0, through: bytes.count, by: step) {
        guard let start = decode(bytes[..<split], label), let end = decode(bytes[split...], label) else { continue }
        guard start + end == text else { fatalError("The text in \(label) is another in two parts at \(split).") }
    }
}

private func userDefined(_ byte: UInt8) -> Unicode.Scalar {
    Unicode.Scalar(0xF700 | UInt16(byte)) ?? "\u{FFFD}"
}

/// The text of code units whose order a byte order mark decides; nil if they are malformed.
private func units<Encoding: Unicode.Encoding>(_ bytes: [UInt8], isBigEndian: Bool, as encoding: Encoding.Type)
    -> String?
where Encoding.CodeUnit: FixedWidthInteger {
    let size = Encoding.CodeUnit.bitWidth / 8
    guard bytes.count.isMultiple(of: size) else { return nil }
    var units = stride(from: 0, to: bytes.count, by: size).map { start in
        bytes[start..<start + size].reduce(Encoding.CodeUnit(0)) { $0 << 8 | Encoding.CodeUnit($1) }
    }
    if !isBigEndian { units = units.map(\.byteSwapped) }
    if units.first == 0xFEFF { return String(validating: units.dropFirst(), as: encoding) }
    if units.first?.byteSwapped == 0xFEFF {
        return String(validating: units.dropFirst().map(\.byteSwapped), as: encoding)
    }
    return String(validating: units, as: encoding)
}
