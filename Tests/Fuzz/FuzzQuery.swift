// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Parses the input as a query in the styles that the first byte selects. Every input leads to parameters or an error,
/// and in the default styles encoding is stable. Names of letters have the values that a decoder of a few lines reads.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzQuery(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let text = String(decoding: UnsafeBufferPointer(start: data + 1, count: count - 1), as: UTF8.self)
    let choice = Int(data[0])
    var parser = QueryParser()
    parser.arrayStyle = [.brackets, .indices, .repeated, .commaSeparated][choice & 3]
    parser.nestingStyle = choice & 4 == 0 ? .brackets : .dots
    parser.isLenient = choice & 8 != 0
    guard let parameters = try? parser.parse(text) else { return 0 }
    checkPlainNames(text, parameters, parser)
    var encoder = QueryEncoder()
    encoder.sortsKeys = false
    encoder.arrayStyle = parser.arrayStyle
    encoder.nestingStyle = parser.nestingStyle
    encoder.emptyCollectionStyle = .bareKey
    guard let written = try? encoder.encode(parameters), choice & 7 == 0 else { return 0 }
    guard let again = try? parser.parse(written), (try? encoder.encode(again)) == written else {
        fatalError("The second encoding differs: \(written)")
    }
    return 0
}

/// The values of names that consist of letters, and occur once.
private func checkPlainNames(_ text: String, _ parameters: RequestParameters, _ parser: QueryParser) {
    let pairs = text.utf8.split(separator: UInt8(ascii: "&")).map { Array($0) }
    // A name with another character may be a path that begins with one of these, or be that name when it is unescaped.
    let names = pairs.map { pair in pair.prefix { $0 != UInt8(ascii: "=") } }
    let isLetter = { (byte: UInt8) in 0x61...0x7A ~= byte }
    guard names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isLetter) }) else { return }
    for (pair, name) in zip(pairs, names) where names.count(where: { $0 == name }) == 1 {
        let key = String(decoding: name, as: UTF8.self)
        guard name.count < pair.count else {
            guard parameters[key] == .null else { fatalError("\(key) has a value.") }
            continue
        }
        guard let value = unescaped(pair[(name.count + 1)...]) else {
            guard parser.isLenient else { fatalError("The malformed value of \(key) is read.") }
            continue
        }
        if parser.arrayStyle == .commaSeparated, value.contains(",") { continue }
        guard parameters[key] == .string(value) else {
            fatalError("\(key) is \(String(describing: parameters[key])), not \(value).")
        }
    }
}

/// The text of an escaped value; nil if it is malformed.
private func unescaped(_ value: ArraySlice<UInt8>) -> String? {
    var (bytes, rest) = ([UInt8](), value)
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            continue
        }
        let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 2, rest.prefix(2).allSatisfy({ $0 < 0x80 }) else { return nil }
        bytes.append(UInt8(digits[0] << 4 | digits[1]))
        rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
}
