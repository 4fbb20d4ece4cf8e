import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization

/// A part of a form: its header, and the source of its content.
struct FormPart: Sendable {
    enum Head: Sendable {
        /// Content-Disposition with the part's name, and the fields of a file.
        case formData(fileName: String?, contentType: String?)
        /// Fields from the caller only.
        case fields(HTTPFields)
    }

    enum Content: Sendable {
        case data(Data)
        case file(BodyFile)
        case stream(HTTPRequestBody)
    }

    /// The name in Content-Disposition; nil if there is none.
    let name: String?
    let head: Head
    let content: Content

    init(name: String, fileName: String?, contentType: String?, content: Content) {
        self.name = name
        head = .formData(fileName: fileName, contentType: contentType)
        self.content = content
    }

    init(headerFields: HTTPFields, content: Content) {
        name = headerFields[fields: .contentDisposition].first.flatMap(ContentDisposition.init)?.name
        head = .fields(headerFields)
        self.content = content
    }

    var length: Int64? {
        switch content {
        case .data(let data): Int64(data.count)
        case .file(let file): file.size
        case .stream(let body): body.length
        }
    }

    /// The first control character in the names that is neither allowed nor escaped in a header, in hexadecimal
    /// digits.
    var unwritableScalar: String? {
        guard case .formData(let fileName, _) = head else { return nil }
        let texts = [name ?? "", fileName ?? ""]
        let bytes = texts.lazy.flatMap(\.utf8).filter { $0 < 0x20 || $0 == 0x7F }
        guard let byte = bytes.first(where: { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) else { return nil }
        let digits = String(byte, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    var isReplayable: Bool {
        if case .stream(let body) = content { body.isReplayable } else { true }
    }

    /// The header lines and the empty line after them.
    func headBytes(addsExtendedFileName: Bool) -> Data {
        var bytes = Data()
        switch head {
        case .formData(let fileName, let contentType):
            bytes.append(contentsOf: "Content-Disposition: form-data; name=\"\(Self.escape(name ?? ""))\"".utf8)
            if let fileName {
                bytes.append(contentsOf: "; filename=\"\(Self.escape(fileName))\"".utf8)
                if addsExtendedFileName, let extended = Self.extendedValue(fileName) {
                    bytes.append(contentsOf: "; filename*=\(extended)".utf8)
                }
            }
            if let contentType { bytes.append(contentsOf: "\r\nContent-Type: \(contentType)".utf8) }
            bytes.append(contentsOf: "\r\n".utf8)
        case .fields(let fields):
            for field in fields {
                bytes.append(contentsOf: "\(field.name.rawName): ".utf8)
                field.withUnsafeBytesOfValue { bytes.append(contentsOf: $0) }
                bytes.append(contentsOf: "\r\n".utf8)
            }
        }
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes
    }

    /// Escapes a name by the WHATWG form standard.
    private static func escape(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): escaped.append(contentsOf: "%22".utf8)
            case 0x0D: escaped.append(contentsOf: "%0D".utf8)
            case 0x0A: escaped.append(contentsOf: "%0A".utf8)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// The extended form of a name (RFC 8187, formerly RFC 5987); nil if the plain form is sufficient.
    private static func extendedValue(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") }
        if isPlain { return nil }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes = Array("UTF-8''".utf8)
        for byte in text.utf8 {
            // The characters of RFC 8187's attr-char stay unescaped.
            if ASCII.isAlphanumeric(byte) || "!#$&+-.^_`|~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
