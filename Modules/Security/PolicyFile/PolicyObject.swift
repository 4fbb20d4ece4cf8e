internal import FoundationEssentials

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

    func refuseUnknownKeys() throws {
        let known = Set(Key.allCases.map(\.stringValue))
        guard let unknown = all.filter({ !known.contains($0) }).min() else { return }
        throw SecurityError(
            .unknownPolicyKey,
            "\"\(unknown.oneLine)\" is no key here; there are " + known.sorted().joined(separator: ", ") + ".",
            path: PolicyPath.text(container.codingPath))
    }

    func required<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        guard container.contains(key) else {
            throw SecurityError(
                .missingPolicyKey, "\"\(key.stringValue)\" is missing.", path: PolicyPath.text(container.codingPath))
        }
        return try container.decode(type, forKey: key)
    }

    /// A key with `null` is no key that is left out.
    func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        container.contains(key) ? try container.decode(type, forKey: key) : nil
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ key: Key) throws -> Choice? {
        guard let text = try optional(String.self, key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw SecurityError(
                .invalidPolicyFile, "\"\(text.oneLine)\" is none of \(known).", path: path(key))
        }
        return choice
    }

    func moment(_ key: Key) throws -> Date? {
        guard let text = try optional(String.self, key) else { return nil }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw SecurityError(
                .invalidPolicyFile,
                "\"\(text.oneLine)\" is no moment; write it as \"2027-06-30T00:00:00Z\" (RFC 3339).", path: path(key))
        }
        return date
    }
}

/// Where something stands in a policy file: `rules[0].pins[1]`.
enum PolicyPath {
    static func text(_ path: [any CodingKey]) -> String {
        path.reduce("") { text, key in
            if let index = key.intValue { return text + "[\(index)]" }
            return text.isEmpty ? key.stringValue : text + "." + key.stringValue
        }
    }
}
