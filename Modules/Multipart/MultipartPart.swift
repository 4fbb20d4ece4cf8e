import FoundationEssentials
import HTTPTypes
import LinnetSerialization

/// One part of a form: its head, ready to be sent, and where its content comes from.
struct MultipartPart: Sendable {
    enum Content: Sendable {
        case data(Data)
        case file(MultipartFile)
        case stream(HTTPBody)
    }

    let name: String
    /// The header lines and the empty line behind them.
    let head: Data
    let content: Content

    init(name: String, fileName: String?, contentType: String?, content: Content) {
        var head = "Content-Disposition: form-data; name=\"\(Self.escape(name))\""
        if let fileName { head += "; filename=\"\(Self.escape(fileName))\"" }
        if let contentType { head += "\r\nContent-Type: \(contentType)" }
        self.name = name
        self.head = Data((head + "\r\n\r\n").utf8)
        self.content = content
    }

    init(headerFields: HTTPFields, body: Data) {
        var head = Data()
        for field in headerFields {
            head.append(contentsOf: "\(field.name.rawName): ".utf8)
            field.withUnsafeBytesOfValue { head.append(contentsOf: $0) }
            head.append(contentsOf: "\r\n".utf8)
        }
        head.append(contentsOf: "\r\n".utf8)
        name = ""
        self.head = head
        content = .data(body)
    }

    var length: Int64? {
        switch content {
        case .data(let data): Int64(data.count)
        case .file(let file): file.size
        case .stream(let body): body.length
        }
    }

    var isReplayable: Bool {
        if case .stream(let body) = content { body.isReplayable } else { true }
    }

    /// As the WHATWG form standard escapes names, and nothing else.
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
}
