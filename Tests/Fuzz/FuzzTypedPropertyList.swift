// Modules: Serialization
import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization

/// A type with members of the kinds that a property list has.
private struct Item: Codable {
    var id: Int
    var small: UInt8?
    var ratio: Double?
    var flag: Bool?
    var text: String?
    var list: [Int]?
    var map: [String: Int]?
    var at: Date?
    var data: Data?
    var items: [Item]?
}

/// Decodes the input as items with a response serializer. A list that `PropertyListValue` refuses has no items; of
/// another list, the items are those of Foundation's decoder for what `PropertyListValue` writes in binary, and items
/// that Foundation writes are read.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTypedPropertyList(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: data, count: count))
    let items = read(bytes)
    guard let list = try? PropertyListValue(parsing: bytes) else {
        guard items == nil else { fatalError("Items are read from bytes that are no property list.") }
        return 0
    }
    if let written = try? list.data(format: .binary) {
        let theirs = try? PropertyListDecoder().decode([Item].self, from: written)
        guard text(items) == text(theirs) else { fatalError("The items are \(text(items)), not \(text(theirs)).") }
    }
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    guard let items, let again = try? encoder.encode(items), again.count < 1 << 20 else { return 0 }
    guard text(read(again)) == text(items) else { fatalError("The items that Foundation writes are read as others.") }
    return 0
}

private func read(_ bytes: Data) -> [Item]? {
    var head = HTTPResponse(status: .ok)
    head.headerFields[.contentType] = "application/x-plist"
    return try? DecodablePropertyListResponseSerializer<[Item]>().serialize(SerializedResponse(head: head, body: bytes))
}

/// A text that two values have if they are the same; NaN is equal to itself here, and the order of dictionaries does
/// not count.
private func text(_ items: [Item]?) -> String {
    guard let items else { return "nil" }
    return items.map { item in
        let map = item.map.map { "\($0.sorted { $0.key < $1.key })" } ?? "nil"
        let at = item.at.map { "\($0.timeIntervalSinceReferenceDate)" } ?? "nil"
        return
            "\(item.id) \(String(describing: item.small)) \(String(describing: item.ratio)) \(String(describing: item.flag)) "
            + "\(String(reflecting: item.text)) \(String(describing: item.list)) \(map) \(at) "
            + "\(item.data.map { Array($0) } ?? []) {\(text(item.items))}"
    }.joined(separator: "; ")
}
