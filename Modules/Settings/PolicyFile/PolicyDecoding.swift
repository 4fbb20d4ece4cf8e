internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity

/// Decodes a document and translates decoding errors.
enum PolicyDecoding {
    static let largestFile = 1 << 20

    static func document(_ json: Data) throws(SecurityError) -> SecurityPolicyDocument {
        guard json.count <= largestFile else {
            throw SecurityError(.invalidPolicyFile, "The policy has more than \(largestFile) bytes.", path: "")
        }
        // The decoder also accepts UTF-16 and UTF-32, which contain zero bytes.
        guard !json.contains(0), String(validating: json, as: UTF8.self) != nil else {
            throw SecurityError(.invalidPolicyFile, "The policy is not encoded in UTF-8.", path: "")
        }
        do {
            let document = try JSONDecoder().decode(SecurityPolicyDocument.self, from: json)
            if let error = PolicyText(json).flaw { throw error }
            return document
        } catch {
            var error = translated(error)
            let isSyntaxError = error.code == .invalidPolicyFile && error.path == ""
            if error.line == nil, !isSyntaxError { error.line = error.path.flatMap { PolicyText(json).line(of: $0) } }
            throw error
        }
    }

    private static func translated(_ error: any Error) -> SecurityError {
        switch error {
        case let error as SecurityError: return error
        case DecodingError.typeMismatch(let type, let context), DecodingError.valueNotFound(let type, let context):
            return SecurityError(
                .invalidPolicyFile, "The value must be \(name(type)).", path: PolicyPath.text(context.codingPath))
        case DecodingError.dataCorrupted(let context):
            let reason = context.underlyingError.map { ": \($0)".oneLine } ?? ""
            return SecurityError(
                .invalidPolicyFile,
                context.codingPath.isEmpty ? "The policy is not JSON\(reason)." : "The value cannot be read.",
                path: PolicyPath.text(context.codingPath))
        default:
            return SecurityError(.invalidPolicyFile, "The policy cannot be read.", path: "")
        }
    }

    static func unknownChoice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, _ type: Choice.Type, at path: [any CodingKey]
    ) -> SecurityError {
        let known = type.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return SecurityError(
            .invalidPolicyFile, "\"\(text.oneLine)\" is not one of \(known).", path: PolicyPath.text(path))
    }

    /// The JSON form of a type, in words.
    static func name(_ type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Int.Type: "a whole number"
        case is Double.Type: "a number"
        case is [Any].Type, is [String].Type, is [SecurityPolicyDocument.Rule].Type,
            is [SecurityPolicyDocument.NestedRule].Type:
            "an array"
        default: "an object"
        }
    }
}

/// One object of a policy file, read strictly.
struct PolicyObject<Key: CodingKey & CaseIterable> {
    private struct AnyKey: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Key>
    private let all: [String]

    init(_ decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: Key.self)
        all = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
    }

    func path(_ key: Key) -> String { PolicyPath.text(container.codingPath + [key]) }

    func contains(_ key: Key) -> Bool { container.contains(key) }

    /// The number of keys and indices that lead to the object.
    var depth: Int { container.codingPath.count }

    func refuseUnknownKeys(without others: [Key] = []) throws {
        let known = Set(Key.allCases.map(\.stringValue)).subtracting(others.map(\.stringValue))
        guard let unknown = all.filter({ !known.contains($0) }).min() else { return }
        throw SecurityError(
            .unknownPolicyKey,
            "The key \"\(unknown.oneLine)\" is unknown; use one of " + known.sorted().joined(separator: ", ") + ".",
            path: PolicyPath.text(container.codingPath))
    }

    func required<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        guard container.contains(key) else {
            throw SecurityError(
                .missingPolicyKey, "The key \"\(key.stringValue)\" is missing.",
                path: PolicyPath.text(container.codingPath))
        }
        return try container.decode(type, forKey: key)
    }

    /// An explicit `null` is not the same as an absent key, and is an error.
    func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        container.contains(key) ? try container.decode(type, forKey: key) : nil
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ key: Key) throws -> Choice? {
        guard let text = try optional(String.self, key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw PolicyDecoding.unknownChoice(text, Choice.self, at: container.codingPath + [key])
        }
        return choice
    }

    func moment(_ key: Key) throws -> Date? {
        guard let text = try optional(String.self, key) else { return nil }
        guard let date = PolicyMoment.date(text) else {
            throw SecurityError(
                .invalidPolicyFile,
                "\"\(text.oneLine)\" is not a date; write it as \"2027-06-30T00:00:00Z\" (RFC 3339).", path: path(key))
        }
        return date
    }
}

/// A date in a policy file, in the format of RFC 3339, with milliseconds unless they are zero.
enum PolicyMoment {
    private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    static func text(_ date: Date) -> String {
        let milliseconds = milliseconds(date)
        guard milliseconds.truncatingRemainder(dividingBy: 1000) != 0 else {
            return Date(timeIntervalSince1970: milliseconds / 1000).formatted(.iso8601)
        }
        // The format cuts digits off, and the closest value of a millisecond may lie below it.
        return Date(timeIntervalSince1970: (milliseconds + 0.1) / 1000).formatted(fractional)
    }

    static func date(_ text: String) -> Date? {
        guard isMoment(text) else { return nil }
        return ((try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: fractional)))
            .map { Date(timeIntervalSince1970: milliseconds($0) / 1000) }
    }

    /// Whether the text has the form of RFC 3339, section 5.6, and its day and time exist. Foundation's parser reads
    /// the 30th of February as the 2nd of March, and ignores text after the zone.
    private static func isMoment(_ text: String) -> Bool {
        guard
            let match = text.wholeMatch(
                of: /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/.asciiOnlyDigits()),
            let year = Int(match.1), let month = Int(match.2), let day = Int(match.3), let hour = Int(match.4),
            let minute = Int(match.5), let second = Int(match.6), 1...12 ~= month
        else { return false }
        let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        return 1...days ~= day && hour < 24 && minute < 60 && second < 60
    }

    private static func milliseconds(_ date: Date) -> Double { (date.timeIntervalSince1970 * 1000).rounded() }
}

/// Formats a location within a policy: `rules[0].pins[1]`.
enum PolicyPath {
    static func text(_ path: [any CodingKey]) -> String {
        path.reduce("") { text, key in
            if let index = key.intValue { return text + "[\(index)]" }
            return text.isEmpty ? key.stringValue : text + "." + key.stringValue
        }
    }
}
