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

/// Whether a text has a number with an exponent, or with a fraction after many digits: Foundation's decoder rounds such integers.
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

private func compare<Value: Decodable & Equatable>(
    _ type: Value.Type, _ bytes: Data, _ settings: (JSONDecoder) -> Void = { _ in }
) {
    let foundation = JSONDecoder()
    settings(foundation)
    let ours = Result { try JSONBodyDecoder(foundation).decode(type, from: bytes) }
    // Texts in UTF-16 and UTF-32 have a zero or a byte order mark at the start.
    if bytes.prefix(2).contains(where: { $0 == 0 || $0 >= 0xFE }) { return }
    guard (try? JSONValue(parsing: bytes)) != nil else {
        guard case .failure(DecodingError.dataCorrupted(let context)) = ours, context.codingPath.isEmpty else {
            fatalError("A text that is not JSON is accepted, or has another error.")
        }
        return
    }
    let theirs = Result { try foundation.decode(type, from: bytes) }
    switch (ours, theirs) {
    case (.success(let ours), .success(let theirs)) where ours == theirs: return
    case (.failure(let ours), .failure) where ours is DecodingError: return
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
