// Modules: JSON
import FoundationEssentials
import LinnetJSON

/// A type with members of every kind that the decoder treats in its own way.
private struct Item: Decodable, Equatable {
    var id: Int
    var small: UInt8?
    var ratio: Double?
    var thin: Float?
    var flag: Bool?
    var text: String?
    var list: [Int?]?
    var map: [String: Int]?
    var at: Date?
    var data: Data?
    var price: Decimal?
    var items: [Item]?
}

/// Whether a text has a number with an exponent, or with a fraction after many digits: Foundation's decoder rounds such
/// integers.
private func hasRoundedNumber(_ bytes: Data) -> Bool {
    var digits = 0
    for byte in bytes {
        switch byte {
        case 0x30...0x39: digits += 1
        case UInt8(ascii: "e"), UInt8(ascii: "E"): if digits > 0 { return true }
        case UInt8(ascii: "."): if digits > 15 { return true }
        default: digits = 0
        }
    }
    return false
}

/// The kind of an error, and where it is. Foundation does not say where corrupt data is, such as a number that does not
/// fit.
private func kindAndPath(_ error: DecodingError) -> String {
    let kind =
        switch error {
        case .typeMismatch: "type"
        case .valueNotFound: "value"
        case .keyNotFound(let key, _): "key \(key.stringValue)"
        case .dataCorrupted: "data"
        @unknown default: fatalError("\(error)")
        }
    return kind == "data" ? kind : "\(kind) at \(path(error).map(\.stringValue))"
}

private func path(_ error: DecodingError) -> [any CodingKey] {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context.codingPath
    @unknown default: fatalError("\(error)")
    }
}

/// The value in which the dictionaries on the path have no other members: Foundation reads the members in any order,
/// and throws the error of the one that it reads first.
private func reduced(_ value: JSONValue, to path: ArraySlice<any CodingKey>, isMap: Bool) -> JSONValue {
    guard let key = path.first else { return value }
    switch value {
    case .object(var object):
        guard let member = object[key.stringValue] else { return value }
        let inner = reduced(member, to: path.dropFirst(), isMap: key.stringValue == "map")
        if isMap { return [key.stringValue: inner] }
        object[key.stringValue] = inner
        return .object(object)
    case .array(var values):
        guard let index = key.intValue, values.indices.contains(index) else { return value }
        values[index] = reduced(values[index], to: path.dropFirst(), isMap: false)
        return .array(values)
    default: return value
    }
}

/// The error of Foundation's decoder is of the same kind, in the same place.
private func checkError<Value: Decodable>(
    _ ours: DecodingError, of type: Value.Type, _ tree: JSONValue, _ foundation: JSONDecoder
) {
    let tree = reduced(tree, to: path(ours)[...], isMap: type == [String: [String]].self)
    do {
        _ = try foundation.decode(type, from: tree.data())
        fatalError("Foundation reads the value at \(path(ours)).")
    } catch let theirs as DecodingError {
        guard kindAndPath(ours) == kindAndPath(theirs) else {
            fatalError("The error is \(kindAndPath(ours)), not \(kindAndPath(theirs)).")
        }
    } catch {
        fatalError("\(error)")
    }
}

private func compare<Value: Decodable & Equatable>(
    _ type: Value.Type, _ bytes: Data, _ settings: (JSONDecoder) -> Void = { _ in }
) {
    let foundation = JSONDecoder()
    settings(foundation)
    let ours = Result { try JSONBodyDecoder(foundation).decode(type, from: bytes) }
    // Texts in UTF-16 and UTF-32 have a zero or a byte order mark at the start.
    if bytes.prefix(2).contains(where: { $0 == 0 || $0 >= 0xFE }) { return }
    guard let tree = try? JSONValue(parsing: bytes, options: JSONValue.ParsingOptions(duplicateNames: .first)) else {
        guard case .failure(DecodingError.dataCorrupted(let context)) = ours, context.codingPath.isEmpty else {
            fatalError("A text that is not JSON is accepted, or has another error.")
        }
        return
    }
    let theirs = Result { try foundation.decode(type, from: bytes) }
    switch (ours, theirs) {
    case (.success(let ours), .success(let theirs)) where ours == theirs: return
    case (.failure(let ours as DecodingError), .failure(is DecodingError)):
        if !hasRoundedNumber(bytes) { checkError(ours, of: type, tree, foundation) }
    case (.success, .success): fatalError("The values differ.")
    default: if !hasRoundedNumber(bytes) { fatalError("The verdicts differ.") }
    }
}

/// Decodes the input as several types. The result equals Foundation's, except for the deliberate differences; and a
/// text that is not JSON is an error for all types.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTypedJSON(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: data, count: count))
    compare([Item].self, bytes)
    compare(Item.self, bytes) { $0.keyDecodingStrategy = .convertFromSnakeCase }
    compare([String: [String]].self, bytes)
    compare([Double].self, bytes)
    _ = try? JSONBodyDecoder().decode(JSONValue.self, from: bytes)
    return 0
}
