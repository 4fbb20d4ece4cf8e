internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache

/// Encodes the head of a response: a version, the status, the reason phrase, and the fields with the octets of their
/// values. Each number takes four bytes, in little-endian order.
enum HeadCoding {
    private static let version: UInt32 = 1

    static func encode(_ head: HTTPResponse) -> Data {
        var data = Data()
        append(version, to: &data)
        append(UInt32(head.status.code), to: &data)
        append(Data(head.status.reasonPhrase.utf8), to: &data)
        append(UInt32(head.headerFields.count), to: &data)
        for field in head.headerFields {
            append(Data(field.name.rawName.utf8), to: &data)
            append(field.withUnsafeBytesOfValue { Data($0) }, to: &data)
        }
        return data
    }

    /// Decodes a head; nil unless the bytes are exactly one head.
    static func decode(_ data: Data) -> HTTPResponse? {
        var reader = Reader(rest: [UInt8](data)[...])
        guard reader.number() == version, let code = reader.number(), (100...999).contains(code),
            let reason = reader.bytes(), let count = reader.number()
        else { return nil }
        let status = HTTPResponse.Status(code: Int(code), reasonPhrase: String(decoding: reason, as: UTF8.self))
        var fields = HTTPFields()
        for _ in 0..<count {
            guard let name = reader.bytes().flatMap({ HTTPField.Name(String(decoding: $0, as: UTF8.self)) }),
                let value = reader.bytes()
            else { return nil }
            fields.append(HTTPField(name: name, lenientValue: value))
        }
        return reader.rest.isEmpty ? HTTPResponse(status: status, headerFields: fields) : nil
    }

    private static func append(_ number: UInt32, to data: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }

    private static func append(_ bytes: Data, to data: inout Data) {
        append(UInt32(bytes.count), to: &data)
        data.append(bytes)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func number() -> UInt32? {
            guard rest.count >= 4 else { return nil }
            defer { rest = rest.dropFirst(4) }
            return rest.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }

        mutating func bytes() -> ArraySlice<UInt8>? {
            guard let count = number(), count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(Int(count)) }
            return rest.prefix(Int(count))
        }
    }
}

/// Encodes the variant of a response; no bytes if the response is the same for all requests.
enum VariantCoding {
    static func encode(_ variant: StoredResponse.Variant) throws -> Data {
        guard !variant.isEmpty else { return Data() }
        let encoder = JSONEncoder()
        // Equal variants have equal bytes.
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(variant)
    }

    static func decode(_ data: Data) -> StoredResponse.Variant? {
        data.isEmpty ? empty : try? JSONDecoder().decode(StoredResponse.Variant.self, from: data)
    }

    private static let empty = StoredResponse.Variant(
        of: HTTPResponse(status: .ok), to: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil))
}
