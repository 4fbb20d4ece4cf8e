/// Tries serializers in order, and returns the value of the first that can read the response.
///
/// ```swift
/// enum Content: Sendable { case json(JSONValue?), text(String) }
/// let serializer = CompoundResponseSerializer([
///     JSONResponseSerializer().map(Content.json), StringResponseSerializer().map(Content.text),
/// ])
/// ```
/// The order is AFNetworking's. AFNetworking drops the members' errors; here ``SerializationError/memberErrors`` keeps
/// them. A member that reads every body, such as ``DataResponseSerializer``, belongs at the end.
///
/// Coding writes each member's type and settings. A member with a closure, for example one from
/// ``ResponseSerializer/map(_:)``, cannot be coded. Decoding knows the serializers of this module that are not generic;
/// list others in the decoder's `userInfo`:
///
/// ```swift
/// let types: [any (Decodable & SendableMetatype).Type] = [XMLResponseSerializer.self]
/// decoder.userInfo[.responseSerializerTypes] = types
/// ```
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    /// The members, in the order in which they are tried.
    public var members: [any ResponseSerializer<Value>]

    /// Creates a serializer.
    public init(_ members: [any ResponseSerializer<Value>]) { self.members = members }

    /// Reads the response with the first member that can.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/memberErrors`` if no member can. Its code is
    ///   ``SerializationError/Code/unacceptableStatus`` if a member reports that, otherwise the code that all members
    ///   report, otherwise ``SerializationError/Code/decodingFailed``.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        var errors: [SerializationError] = []
        for member in members {
            do {
                return try Self.read(response, with: member)
            } catch {
                errors.append(error)
            }
        }
        throw Self.failure(errors, response)
    }

    private static func read(
        _ response: SerializedResponse,
        with member: some ResponseSerializer<Value>
    ) throws(SerializationError) -> Value {
        try member.serialize(response)
    }

    private static func failure(_ errors: [SerializationError], _ response: SerializedResponse) -> SerializationError {
        let statusError = errors.first { $0.code == .unacceptableStatus }
        let codes = Set(errors.map(\.code))
        let common = codes.count == 1 ? codes.first : nil
        let reasons = errors.map { reason(of: $0) }.joined(separator: "; ")
        return SerializationError(
            code: statusError?.code ?? common ?? .decodingFailed,
            message: statusError?.message
                ?? (errors.isEmpty
                    ? "The compound serializer has no members."
                    : "None of \(errors.count) serializers could read the response: \(reasons)."),
            underlying: CompoundError(errors: errors),
            response: response
        )
    }
}

/// Why no member of a ``CompoundResponseSerializer`` could read a response.
private struct CompoundError: Error, CustomStringConvertible {
    let errors: [SerializationError]

    var description: String { errors.map(\.message).joined(separator: "\n") }
}

extension SerializationError {
    /// The errors of the members of a ``CompoundResponseSerializer``, in their order; empty for other errors.
    public var memberErrors: [SerializationError] { (underlying as? CompoundError)?.errors ?? [] }
}

extension CodingUserInfoKey {
    /// The types of members, besides the types of this module, for decoding a ``CompoundResponseSerializer``: a value
    /// of the type `[any (Decodable & SendableMetatype).Type]`.
    public static let responseSerializerTypes: CodingUserInfoKey =
        // SAFETY: The initializer is failable for `RawRepresentable` only, and accepts every text.
        CodingUserInfoKey(rawValue: "LinnetSerialization.responseSerializerTypes").unsafelyUnwrapped
}

extension CompoundResponseSerializer: Codable {
    private enum CodingKeys: String, CodingKey { case members }
    private enum MemberKeys: String, CodingKey { case type, settings }

    private static func name(of type: any Any.Type) -> String { String(reflecting: type) }

    /// Reads a serializer; throws `DecodingError` if the type of a member is not known, or its value is of another
    /// type.
    public init(from decoder: any Decoder) throws {
        let extra = decoder.userInfo[.responseSerializerTypes] as? [any (Decodable & SendableMetatype).Type] ?? []
        let types: [any (Decodable & SendableMetatype).Type] =
            extra + [
                DataResponseSerializer.self, StringResponseSerializer.self, JSONResponseSerializer.self,
                PropertyListResponseSerializer.self,
            ]
        var list = try decoder.container(keyedBy: CodingKeys.self).nestedUnkeyedContainer(forKey: .members)
        members = []
        while !list.isAtEnd {
            let container = try list.nestedContainer(keyedBy: MemberKeys.self)
            let name = try container.decode(String.self, forKey: .type)
            guard let type = types.first(where: { Self.name(of: $0) == name }),
                let member = try type.init(from: container.superDecoder(forKey: .settings))
                    as? any ResponseSerializer<Value>
            else {
                throw DecodingError.dataCorruptedError(
                    forKey: .type, in: container,
                    debugDescription: "\(name) is not a known response serializer for \(Value.self).")
            }
            members.append(member)
        }
    }

    /// Writes the members; throws `EncodingError` if one cannot be coded.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var list = container.nestedUnkeyedContainer(forKey: .members)
        for member in members {
            let name = Self.name(of: type(of: member))
            guard let coded = member as? any Encodable else {
                let context = EncodingError.Context(
                    codingPath: list.codingPath,
                    debugDescription: "The member \(name) cannot be coded, since it may hold a closure.")
                throw EncodingError.invalidValue(member, context)
            }
            var nested = list.nestedContainer(keyedBy: MemberKeys.self)
            try nested.encode(name, forKey: .type)
            try coded.encode(to: nested.superEncoder(forKey: .settings))
        }
    }
}
