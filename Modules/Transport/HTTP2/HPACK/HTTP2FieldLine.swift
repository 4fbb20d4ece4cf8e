internal import HTTPTypes

/// One line of a server's field section, checked as RFC 9113, 8.2 and 8.3 want it: made once, however often it comes.
struct HTTP2FieldLine {
    enum Name {
        case field(HTTPField.Name)
        case status
        case malformed(HTTP2MalformedField)
    }

    enum Content {
        case field(HTTPField)
        case contentLength(HTTPField, Int64)
        case status(Int)
        case malformed(HTTP2MalformedField)
    }

    let name: Name
    let nameLength: Int
    let content: Content
    /// Bytes of name and value.
    let length: Int

    /// What it counts for in tables and lists (RFC 7541, 4.1).
    var size: Int { length + 32 }

    init(_ name: Name, nameLength: Int, value: UnsafeRawBufferPointer) {
        self.name = name
        self.nameLength = nameLength
        length = nameLength + value.count
        content =
            switch name {
            case .malformed(let flaw): .malformed(flaw)
            case .status: Self.status(value).map { .status($0) } ?? .malformed(.status)
            case .field(let name): Self.field(name, value)
            }
    }

    private static func field(_ name: HTTPField.Name, _ value: UnsafeRawBufferPointer) -> Content {
        guard value.holdsFieldBytesAlone else { return .malformed(.value) }
        // HTTPField would leave them out.
        guard value.first?.isBlank != true, value.last?.isBlank != true else { return .malformed(.outerBlank) }
        let field = HTTPField(name: name, value: value)
        guard name == .contentLength else { return .field(field) }
        return value.contentLength.map { .contentLength(field, $0) } ?? .malformed(.contentLength)
    }

    private static func status(_ value: UnsafeRawBufferPointer) -> Int? {
        guard value.count == 3, value.allSatisfy(\.isDecimalDigit) else { return nil }
        let status = value.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return status >= 100 ? status : nil
    }
}

/// What makes a message malformed (RFC 9113, 8.1.1), as the end of a sentence.
enum HTTP2MalformedField: String {
    case name = "a field's name that is none"
    case connection = "a field that belongs to connections of HTTP/1.1"
    case value = "a control character in a field's value"
    case outerBlank = "a field's value that begins or ends with a blank"
    case contentLength = "a Content-Length that is not one number"
    case pseudoField = "a pseudo-header field that responses do not have"
    case status = "a status that is no number of three digits"
    case secondStatus = "two statuses"
    case lateStatus = "a pseudo-header field behind other fields"
    case noStatus = "a head without a status"
    case trailersWithStatus = "trailers with a status"
    case trailersWithoutEnd = "trailers before the end of the stream"
}

extension HTTP2FieldLine.Name {
    /// A name as it came.
    init(_ name: UnsafeRawBufferPointer) {
        if name.first == UInt8(ascii: ":") {
            self = name.elementsEqual(":status".utf8) ? .status : .malformed(.pseudoField)
            return
        }
        // Names are in lower case (RFC 9113, 8.2.1).
        guard name.allSatisfy({ $0.isTokenByte && !(0x41...0x5A ~= $0) }),
            let field = HTTPField.Name(parsed: String(decoding: name, as: UTF8.self))
        else {
            self = .malformed(.name)
            return
        }
        self = Self.belongsToConnections(field) ? .malformed(.connection) : .field(field)
    }

    private static func belongsToConnections(_ name: HTTPField.Name) -> Bool {
        switch name.canonicalName {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": true
        default: false
        }
    }
}
