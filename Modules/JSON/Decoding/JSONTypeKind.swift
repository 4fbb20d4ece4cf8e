internal import FoundationEssentials

/// How the values of a type are decoded.
enum JSONTypeKind {
    case bool, string, double, int
    case date, data, url, decimal
    /// An array or a dictionary with names as keys, which is decoded without a container.
    case list(any JSONListDecodable.Type)
    case map(any JSONMapDecodable.Type)
    /// By the type's `init(from:)`.
    case other

    init<T>(_ type: T.Type) {
        if type == Bool.self {
            self = .bool
        } else if type == String.self {
            self = .string
        } else if type == Double.self {
            self = .double
        } else if type == Int.self {
            self = .int
        } else if type == Date.self {
            self = .date
        } else if type == Data.self {
            self = .data
        } else if type == URL.self {
            self = .url
        } else if type == Decimal.self {
            self = .decimal
        } else if let list = type as? any JSONListDecodable.Type {
            self = .list(list)
        } else if let map = type as? any JSONMapDecodable.Type {
            self = .map(map)
        } else {
            self = .other
        }
    }
}

/// An array of decodable elements.
protocol JSONListDecodable {
    static func read(from decoder: JSONTapeDecoder) throws -> Self
}

/// A dictionary with decodable values and with strings as keys, which no key strategy changes.
protocol JSONMapDecodable {
    static func read(from decoder: JSONTapeDecoder) throws -> Self
}

// More than a text of the usual size has is not reserved before it has been decoded.
private let greatestReserve = 1000

extension Array: JSONListDecodable where Element: Decodable {
    static func read(from decoder: JSONTapeDecoder) throws -> [Element] {
        let (first, count) = try decoder.elements()
        let document = decoder.document
        var result: [Element] = []
        result.reserveCapacity(Swift.min(count, greatestReserve))
        var index = first
        var child = JSONTapeDecoder(at: index, position: 0, in: decoder)
        for position in 0..<count {
            if isKnownUniquelyReferenced(&child) {
                child.move(to: index, position: position)
            } else {
                child = JSONTapeDecoder(at: index, position: position, in: decoder)
            }
            result.append(try child.decode(Element.self))
            index = document.tape.next(after: index)
        }
        return result
    }
}

extension Dictionary: JSONMapDecodable where Key == String, Value: Decodable {
    static func read(from decoder: JSONTapeDecoder) throws -> [String: Value] {
        let (first, count) = try decoder.members()
        let document = decoder.document
        var result: [String: Value] = [:]
        result.reserveCapacity(Swift.min(count, greatestReserve))
        var index = first
        var child = JSONTapeDecoder(at: index, key: nil, in: decoder)
        for _ in 0..<count {
            let name = document.string(at: index)
            let value = document.tape.next(after: index)
            index = document.tape.next(after: value)
            // The first of repeated names counts.
            guard result[name] == nil else { continue }
            if isKnownUniquelyReferenced(&child) {
                child.move(to: value, key: TreeKey(name))
            } else {
                child = JSONTapeDecoder(at: value, key: TreeKey(name), in: decoder)
            }
            result[name] = try child.decode(Value.self)
        }
        return result
    }
}
