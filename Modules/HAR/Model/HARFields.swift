internal import FoundationEssentials
internal import LinnetJSON

/// A part of the document that is an object.
protocol HARValue {
    init(_ fields: HARFields) throws(HARError)
    var object: JSONObject { get }
}

/// Reads the fields of one object, and knows its place. A field that is null is missing.
struct HARFields {
    private let object: JSONObject
    private let ownPlace: HARPlace

    init(_ value: JSONValue, at place: HARPlace) throws(HARError) {
        guard let object = value.object else { throw .invalid(place, "an object") }
        (self.object, ownPlace) = (object, place)
    }

    func place(_ name: String) -> HARPlace { .member(ownPlace, name) }

    /// The fields whose names begin with an underscore.
    var custom: JSONObject {
        var custom = JSONObject()
        for (name, value) in object where name.utf8.first == UInt8(ascii: "_") { custom[name] = value }
        return custom
    }

    private func present(_ name: String) -> JSONValue? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }

    private func required<Value>(_ name: String, _ value: Value?) throws(HARError) -> Value {
        guard let value else { throw .missing(place(name)) }
        return value
    }

    // MARK: Plain values

    func stringIfPresent(_ name: String) throws(HARError) -> String? {
        guard let value = present(name) else { return nil }
        guard let text = value.string else { throw .invalid(place(name), "a string") }
        return text
    }

    func string(_ name: String) throws(HARError) -> String { try required(name, stringIfPresent(name)) }

    func boolIfPresent(_ name: String) throws(HARError) -> Bool? {
        guard let value = present(name) else { return nil }
        guard let bool = value.bool else { throw .invalid(place(name), "true or false") }
        return bool
    }

    func integerIfPresent(_ name: String) throws(HARError) -> Int? {
        guard let value = present(name) else { return nil }
        guard let integer = value.int else { throw .invalid(place(name), "an integer of 64 bits") }
        return integer
    }

    func integer(_ name: String) throws(HARError) -> Int { try required(name, integerIfPresent(name)) }

    /// A number of bytes; -1 if it is unknown.
    func size(_ name: String) throws(HARError) -> Int {
        let size = try integer(name)
        guard size >= -1 else { throw .invalid(place(name), "a size in bytes, or -1") }
        return size
    }

    private func milliseconds(_ name: String) throws(HARError) -> Double? {
        guard let value = present(name) else { return nil }
        guard let number = value.double, number.isFinite, number >= -1 else {
            throw .invalid(place(name), "a time in milliseconds, or -1")
        }
        return number
    }

    func time(_ name: String) throws(HARError) -> Double { try required(name, milliseconds(name)) }

    /// A time that is nil if it is negative.
    func timeIfPresent(_ name: String) throws(HARError) -> Double? {
        try milliseconds(name).flatMap { $0 < 0 ? nil : $0 }
    }

    func date(_ name: String) throws(HARError) -> Date {
        guard let date = Date(iso8601Text: try string(name))?.roundedToMilliseconds, Date.writable.contains(date) else {
            throw .invalid(place(name), "a date and time in ISO 8601 with a time zone")
        }
        return date
    }

    // MARK: Objects

    func fields(_ name: String) throws(HARError) -> HARFields {
        try HARFields(required(name, present(name)), at: place(name))
    }

    func valueIfPresent<Value: HARValue>(_ name: String) throws(HARError) -> Value? {
        guard let value = present(name) else { return nil }
        return try Value(HARFields(value, at: place(name)))
    }

    func value<Value: HARValue>(_ name: String) throws(HARError) -> Value { try required(name, valueIfPresent(name)) }

    func listIfPresent<Value: HARValue>(_ name: String) throws(HARError) -> [Value]? {
        guard let value = present(name) else { return nil }
        guard let elements = value.array else { throw .invalid(place(name), "an array") }
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            values.append(try Value(HARFields(element, at: .element(place(name), index))))
        }
        return values
    }

    func list<Value: HARValue>(_ name: String) throws(HARError) -> [Value] { try required(name, listIfPresent(name)) }

    /// The number of elements of an array.
    func count(_ name: String) -> Int { object[name]?.array?.count ?? 0 }
}

extension JSONValue {
    static func list(_ values: [some HARValue]) -> JSONValue { .array(values.map { .object($0.object) }) }

    /// A time in milliseconds; -1 for nil and for a number that JSON does not have.
    static func time(_ milliseconds: Double?) -> JSONValue {
        milliseconds.flatMap { JSONNumber($0) }.map(JSONValue.number) ?? -1
    }
}

extension JSONObject {
    /// The object with the fields of applications. They replace no other.
    func adding(_ custom: JSONObject) -> JSONObject {
        guard !custom.isEmpty else { return self }
        var object = self
        for (name, value) in custom where name.utf8.first == UInt8(ascii: "_") && object[name] == nil {
            object[name] = value
        }
        return object
    }
}

extension Date {
    /// The times that the text of a date can have: the years from 1 to 9999.
    static let writable = Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

    /// The time that a document has, which is in milliseconds.
    var roundedToMilliseconds: Date {
        Date(timeIntervalSinceReferenceDate: (timeIntervalSinceReferenceDate * 1000).rounded() / 1000)
    }
}
