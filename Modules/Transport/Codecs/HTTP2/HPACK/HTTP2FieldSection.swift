internal import HTTPTypes

/// A response head or trailers (RFC 9113, 8.1).
struct HTTP2FieldSection {
    /// The status; nil in trailers.
    private(set) var status: Int?
    private(set) var fields = HTTPFields()
    private(set) var contentLength: Int64?
    /// The bytes of names and values.
    private(set) var bytes = 0
    /// The first flaw, if there is one.
    private(set) var flaw: HTTP2MalformedField?
    private var count = 0

    init() {}

    mutating func reserve(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// Adds a line. Pseudo-header fields come first, each once (RFC 9113, 8.3).
    mutating func add(_ line: HTTP2FieldLine) {
        bytes += line.length
        count += 1
        switch line.content {
        case .field(let field):
            fields.append(field)
        case .contentLength(let field, let length):
            fields.append(field)
            // Also two equal ones, as in HTTP/1.1: a recipient may refuse them (RFC 9110, 8.6), and callers would read
            // the list of both as no length.
            if contentLength != nil { found(.contentLength) }
            contentLength = length
        case .status(let status):
            if self.status != nil {
                found(.secondStatus)
            } else if count > 1 {
                found(.lateStatus)
            } else {
                self.status = status
            }
        case .malformed(let flaw):
            found(flaw)
        }
    }

    private mutating func found(_ flaw: HTTP2MalformedField) {
        if self.flaw == nil { self.flaw = flaw }
    }

    /// Checks the section against the caller's limits.
    func check(_ limits: TransportConfiguration.ResponseLimits) throws(TransportError) {
        guard fields.count <= limits.headFields else {
            throw TransportError(.headTooLarge, "The response head exceeds the limit of \(limits.headFields) fields.")
        }
        guard bytes <= limits.headBytes else {
            throw TransportError(.headTooLarge, "The response head exceeds the limit of \(limits.headBytes) bytes.")
        }
    }
}

/// A line of a server's field section, validated as RFC 9113, 8.2 and 8.3 require. Repeated lines are validated once.
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
    /// The bytes of name and value.
    let length: Int

    /// The size of the line in tables and lists (RFC 7541, 4.1).
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
        // HTTPField would drop them.
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

/// Why a message is malformed (RFC 9113, 8.1.1), as the end of a sentence.
enum HTTP2MalformedField: String {
    case name = "an invalid field name"
    case connection = "a field that is specific to HTTP/1.1 connections"
    case value = "a control character in a field value"
    /// RFC 9113, 8.2.1 forbids it, although HTTP/1.1 allows it and some clients accept it.
    case outerBlank = "a field value with leading or trailing whitespace"
    case contentLength = "a Content-Length that is not a single number"
    case pseudoField = "a pseudo-header field that is invalid in responses"
    case status = "a status that is not a three-digit number"
    case secondStatus = "two statuses"
    case lateStatus = "a pseudo-header field after other fields"
    case noStatus = "a head without a status"
    case trailersWithStatus = "trailers with a status"
    case trailersWithoutEnd = "trailers before the end of the stream"
}

extension HTTP2FieldLine.Name {
    /// Parses a name.
    init(_ name: UnsafeRawBufferPointer) {
        if name.first == UInt8(ascii: ":") {
            self = name.elementsEqual(":status".utf8) ? .status : .malformed(.pseudoField)
            return
        }
        // Names are lower case (RFC 9113, 8.2.1).
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
