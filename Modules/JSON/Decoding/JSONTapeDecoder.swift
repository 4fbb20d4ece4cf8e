internal import FoundationEssentials

/// Decodes the value at an index of a tape. It is also the last part of the path to that value, and a container of it.
final class JSONTapeDecoder: Decoder {
    let document: JSONDocument
    private(set) var index: Int
    private let parent: JSONTapeDecoder?
    // The key in the parent, if that is an object; otherwise the position in it.
    private var key: (any CodingKey)?
    private var position: Int
    // The values of the members by name, once a search member by member would take too long.
    private var names: [NameBytes: Int]?

    private init(_ document: JSONDocument) {
        self.document = document
        index = JSONTape.root
        parent = nil
        position = 0
    }

    init(at index: Int, key: (any CodingKey)?, in parent: JSONTapeDecoder) {
        document = parent.document
        self.index = index
        self.parent = parent
        self.key = key
        position = 0
    }

    init(at index: Int, position: Int, in parent: JSONTapeDecoder) {
        document = parent.document
        self.index = index
        self.parent = parent
        self.position = position
    }

    /// Reads a value from the UTF-8 bytes of a JSON text.
    static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, settings: JSONDecodingSettings
    ) throws -> T {
        var document: JSONDocument
        do {
            document = try JSONDocument(bytes, settings: settings)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error))
        }
        defer { if !isKnownUniquelyReferenced(&document) { document.keepBytes() } }
        return try JSONTapeDecoder(document).decode(type)
    }

    /// Moves to another value of the parent. Only for a decoder that has a single reference.
    func move(to index: Int, position: Int) {
        self.index = index
        self.position = position
        names = nil
    }

    /// Moves to another value of the parent. Only for a decoder that has a single reference.
    func move(to index: Int, key: any CodingKey) {
        self.index = index
        self.key = key
        names = nil
    }

    var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var place = self
        while let parent = place.parent {
            path.append(place.key ?? PositionKey(place.position))
            place = parent
        }
        path.reverse()
        return path
    }

    /// Counts the memory of a ``JSONValue``, whose size the text determines rather than the type.
    func spendOnTree() throws {
        typealias Cost = JSONParser.Cost
        func text(_ count: Int) -> Int { count > Cost.shortString ? Cost.block + count : 0 }
        let place = key.map { Cost.member + text($0.stringValue.utf8.count) } ?? Cost.element
        let content =
            switch document.tape.kind(at: index) {
            case .array, .object: Cost.block
            case .string, .escapedString, .integer, .number: text(document.tape.length(at: index))
            case .null, .true, .false: 0
            }
        document.treeMemory -= place + content
        guard document.treeMemory < 0 else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "The values take more than \(document.settings.treeMemory) bytes of memory."))
    }

    // MARK: Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try members()
        if document.changesKeys, names == nil { indexNames() }
        return KeyedDecodingContainer(JSONKeyedContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let (first, count) = try elements()
        return JSONUnkeyedContainer(decoder: self, first: first, count: count)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// The index of the first element of the array here, and the number of elements.
    func elements() throws -> (first: Int, count: Int) {
        guard document.tape.kind(at: index) == .array else {
            throw mismatch(
                [Any].self, nullMessage: "Cannot get unkeyed decoding container -- found null value instead.")
        }
        return (document.tape.first(in: index), document.tape.elementCount(at: index))
    }

    /// The index of the first name of the object here, and the number of members.
    func members() throws -> (first: Int, count: Int) {
        guard document.tape.kind(at: index) == .object else {
            throw mismatch(
                [String: Any].self, nullMessage: "Cannot get keyed decoding container -- found null value instead.")
        }
        return (document.tape.first(in: index), document.tape.elementCount(at: index))
    }

    // MARK: Members of an object

    // Objects with more members have a dictionary of them.
    private static let fewMembers = 16

    /// The index of the value of a member of the object here; nil if there is none. The first of repeated names counts.
    func member(_ name: String) -> Int? {
        if document.changesKeys { return names?[NameBytes(name)] }
        let count = document.tape.elementCount(at: index)
        if count > Self.fewMembers {
            if names == nil { indexNames() }
            return names?[NameBytes(name)]
        }
        var name = name
        return name.withUTF8 { search($0, count) }
    }

    private func search(_ name: UnsafeBufferPointer<UInt8>, _ count: Int) -> Int? {
        let bytes = document.bytes
        var index = document.tape.first(in: index)
        for _ in 0..<count {
            let value = document.tape.next(after: index)
            if document.tape.kind(at: index) == .string {
                let length = document.tape.length(at: index)
                if length == name.count, Self.areEqual(bytes + document.tape.offset(at: index), name) { return value }
            } else if document.string(at: index).utf8.elementsEqual(name) {
                return value
            }
            index = document.tape.next(after: value)
        }
        return nil
    }

    @inline(__always) private static func areEqual(
        _ bytes: UnsafePointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        for index in 0..<name.count where bytes[index] != name[index] { return false }
        return true
    }

    private func indexNames() {
        var names: [NameBytes: Int] = [:]
        let count = document.tape.elementCount(at: index)
        names.reserveCapacity(count)
        forEachName { name, value in
            let key = NameBytes(name)
            if names[key] == nil { names[key] = value }
        }
        self.names = names
    }

    /// Passes each name, as the strategy makes it, and the index of its value.
    func forEachName(_ body: (String, Int) -> Void) {
        let path = if case .custom = document.settings.keys { codingPath } else { [any CodingKey]() }
        var index = document.tape.first(in: index)
        for _ in 0..<document.tape.elementCount(at: self.index) {
            let name = document.string(at: index)
            let value = document.tape.next(after: index)
            switch document.settings.keys {
            case .useDefaultKeys: body(name, value)
            case .convertFromSnakeCase: body(document.convertedName(name), value)
            case .custom(let convert): body(convert(path + [TreeKey(name)]).stringValue, value)
            @unknown default: body(name, value)
            }
            index = document.tape.next(after: value)
        }
    }

    // MARK: Errors

    /// The error for a value that is null or has another type than the requested one.
    @inline(never) func mismatch(_ type: Any.Type, nullMessage: String? = nil) -> DecodingError {
        let kind = document.tape.kind(at: index)
        if kind == .null, type != Bool.self {
            let message = nullMessage ?? "Cannot get value of type \(type) -- found null value instead."
            return .valueNotFound(type, DecodingError.Context(codingPath: codingPath, debugDescription: message))
        }
        let message = "Expected to decode \(type) but found \(kind.words) instead."
        return .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }

    @inline(never) func corrupted(_ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }

    @inline(never) func unrepresentable(_ type: Any.Type) -> DecodingError {
        let text = String(decoding: document.text(at: index).prefix(60), as: UTF8.self)
        return corrupted("The number \(text) does not fit in \(type).")
    }
}

/// The place of an element in an array.
struct PositionKey: CodingKey {
    let position: Int

    init(_ position: Int) { self.position = position }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { position = intValue }

    var stringValue: String { "Index \(position)" }
    var intValue: Int? { position }
}

extension JSONTape.Kind {
    fileprivate var words: String {
        switch self {
        case .null: "null"
        case .true, .false: "a Boolean value"
        case .integer, .number: "a number"
        case .string, .escapedString: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
