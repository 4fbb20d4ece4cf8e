internal import HTTPTypes

/// A server's head or trailers (RFC 9113, 8.1).
struct HTTP2FieldSection {
    /// Nil in trailers.
    private(set) var status: Int?
    private(set) var fields = HTTPFields()
    private(set) var contentLength: Int64?
    /// Bytes of names and values.
    private(set) var bytes = 0
    /// What is wrong with it, if anything: the first that was found.
    private(set) var flaw: HTTP2MalformedField?
    private var count = 0

    init() {}

    mutating func reserve(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// Takes the next line. Pseudo-header fields come first, and each once (RFC 9113, 8.3).
    mutating func add(_ line: HTTP2FieldLine) {
        bytes += line.length
        count += 1
        switch line.content {
        case .field(let field):
            fields.append(field)
        case .contentLength(let field, let length):
            fields.append(field)
            if contentLength.map({ $0 != length }) ?? false { found(.contentLength) }
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

    /// Refuses a section that is larger than the caller wants.
    func check(_ limits: TransportConfiguration.ResponseLimits) throws(TransportError) {
        guard fields.count <= limits.headFields else {
            throw TransportError(.headTooLarge, "The response's head has more than \(limits.headFields) fields.")
        }
        guard bytes <= limits.headBytes else {
            throw TransportError(.headTooLarge, "The response's head has more than \(limits.headBytes) bytes.")
        }
    }
}
