internal import FoundationEssentials
package import HTTPTypes
package import LinnetMessages

/// A message as its signature sees it.
package struct SignableMessage: Sendable {
    /// The head of a request, or of the one that a response answers.
    private struct Request: Sendable {
        let method: String
        let target: RequestTarget
    }

    private let request: Request?
    private let status: Int?
    package var fields: HTTPFields

    /// - Parameter target: The URL as it is sent.
    package init(method: HTTPRequest.Method, target: RequestTarget, fields: HTTPFields) {
        (request, status) = (Request(method: method.rawValue, target: target), nil)
        self.fields = fields
    }

    package init(response: HTTPResponse) {
        (request, status, fields) = (nil, response.status.code, response.headerFields)
    }

    /// Returns the value of a component (RFC 9421, section 2).
    ///
    /// - Throws: ``AuthenticationError/Code/missingComponent``.
    func value(of component: SignatureComponent) throws(AuthenticationError) -> String {
        let value = component.name.hasPrefix("@") ? try derived(component) : try field(component)
        // A line end would begin another line of the base.
        guard value.utf8.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x09 }) else {
            throw .missing(component, "has a value that is not ASCII; cover its bytes instead")
        }
        return value
    }

    private func derived(_ component: SignatureComponent) throws(AuthenticationError) -> String {
        if component == .status, let status { return String(status) }
        guard let request else { throw .missing(component, "is not in the message") }
        let (origin, target) = (request.target.origin, request.target.path)
        switch component.name {
        case "@method": return request.method
        case "@target-uri": return "\(origin)\(target)"
        case "@authority": return origin.authority
        case "@scheme": return origin.scheme
        case "@request-target": return target
        case "@path": return String(request.target.pathAlone)
        case "@query": return "?\(request.target.query ?? "")"
        case "@query-param": return try parameter(component, of: request.target.query ?? "")
        default: throw .missing(component, "is unknown")
        }
    }

    private func parameter(
        _ component: SignatureComponent, of query: Substring
    ) throws(AuthenticationError) -> String {
        guard case .string(let name)? = component.parameter("name") else {
            throw .missing(component, "does not name a parameter")
        }
        let values = FormEncoding.pairs(query).filter { $0.name == name }.map(\.value)
        guard let value = values.first else { throw .missing(component, "is not in the query") }
        guard values.count == 1 else { throw .missing(component, "occurs more than once; cover the whole query") }
        return value
    }
}

extension SignableMessage {
    private func field(_ component: SignatureComponent) throws(AuthenticationError) -> String {
        let known: Set<String> = ["sf", "key", "bs"]
        guard component.parameters.allSatisfy({ known.contains($0.key) }) else {
            throw .missing(component, "has an unknown parameter")
        }
        guard let name = HTTPField.Name(component.name), fields.contains(name) else {
            throw .missing(component, "is not in the message")
        }
        let lines = fields[fields: name]
        if component.parameter("bs") != nil {
            guard component.parameters.count == 1 else {
                throw .missing(component, "has parameters that exclude each other")
            }
            return lines.map { StructuredField.BareItem.bytes(Self.trimmed($0)).text }.joined(separator: ", ")
        }
        let value = lines.map { String(decoding: Self.trimmed($0), as: UTF8.self) }.joined(separator: ", ")
        if case .string(let key)? = component.parameter("key") {
            guard let member = StructuredFieldParser.dictionary(value)?.member(key) else {
                throw .missing(component, "is not in the message")
            }
            return member.text
        }
        guard component.parameter("sf") != nil else { return value }
        guard let canonical = Self.canonical(value, as: component.type) else {
            throw .missing(component, "is not a valid structured field")
        }
        return canonical
    }

    private static func canonical(_ value: String, as type: SignatureComponent.FieldType?) -> String? {
        switch type {
        case .dictionary: StructuredFieldParser.dictionary(value)?.text
        case .list: StructuredFieldParser.list(value)?.text
        case .item: StructuredFieldParser.item(value)?.text
        case nil:
            StructuredFieldParser.dictionary(value)?.text ?? StructuredFieldParser.list(value)?.text
                ?? StructuredFieldParser.item(value)?.text
        }
    }

    /// The bytes of a value without whitespace around them, and with a space for each line that is folded (section
    /// 2.1).
    private static func trimmed(_ field: HTTPField) -> [UInt8] {
        let bytes = field.withUnsafeBytesOfValue { Array($0) }
        return unfolded(bytes)
    }

    static func unfolded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for part in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let first = part.firstIndex(where: { !ASCII.isBlank($0) }),
                let last = part.lastIndex(where: { !ASCII.isBlank($0) })
            else { continue }
            if !result.isEmpty { result.append(UInt8(ascii: " ")) }
            result += part[first...last]
        }
        return result
    }
}

extension RequestTarget {
    /// The query without its question mark; nil if there is none.
    fileprivate var query: Substring? {
        path.utf8.firstIndex(of: UInt8(ascii: "?")).map { path[path.utf8.index(after: $0)...] }
    }
}

extension AuthenticationError {
    fileprivate static func missing(_ component: SignatureComponent, _ problem: String) -> AuthenticationError {
        AuthenticationError(
            .missingComponent, "The component \(component.description.oneLine) of the signature \(problem).")
    }
}
