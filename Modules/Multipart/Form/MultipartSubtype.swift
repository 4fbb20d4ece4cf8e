import LinnetSerialization

/// What the parts of a multipart body are to each other: its subtype, with the parameters that belong to it.
///
/// The default is ``formData``. Others are for services that take several documents in one request, such as a JSON
/// document and the file that it describes.
public struct MultipartSubtype: Sendable, Hashable, CustomStringConvertible {
    /// The name in lower case, such as `form-data`.
    public let name: String
    /// The parameters as they go into Content-Type, each behind `; `.
    let parameters: String

    private init(unchecked name: String) {
        self.name = name
        parameters = ""
    }

    /// A form (RFC 7578).
    public static let formData = MultipartSubtype(unchecked: "form-data")
    /// Parts that do not depend on each other (RFC 2046, section 5.1.3).
    public static let mixed = MultipartSubtype(unchecked: "mixed")
    /// The same in several forms, the best last (RFC 2046, section 5.1.4).
    public static let alternative = MultipartSubtype(unchecked: "alternative")

    /// Parts that make one thing together (RFC 2387).
    ///
    /// - Parameters:
    ///   - type: The media type of the part that the others belong to, such as `application/json`.
    ///   - start: The Content-ID of that part, with its angle brackets; if nil, which is the default, it is the first.
    ///   - startInfo: What the receiver is told besides, for types that say so.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidSubtype`` when `type` is no media type, or another
    ///   value is not printable ASCII.
    public static func related(
        type: String, start: String? = nil, startInfo: String? = nil
    ) throws(MultipartError) -> MultipartSubtype {
        guard MediaType.isWellFormed(type) else {
            throw MultipartError(code: .invalidSubtype, message: "\(type.debugDescription) is not a media type.")
        }
        var parameters = [("type", type)]
        if let start { parameters.append(("start", start)) }
        if let startInfo { parameters.append(("start-info", startInfo)) }
        return try MultipartSubtype("related", parameters)
    }

    /// Another subtype, with its parameters in order. The boundary is not among them.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidSubtype`` when a name is no token (RFC 9110,
    ///   section 5.6.2), a value is not printable ASCII, or a parameter is named `boundary`.
    public init(_ name: String, parameters: KeyValuePairs<String, String> = [:]) throws(MultipartError) {
        try self.init(name, parameters.map { ($0.key, $0.value) })
    }

    private init(_ name: String, _ parameters: [(name: String, value: String)]) throws(MultipartError) {
        let type = MediaType("multipart/\(name)")
        guard let type, !name.contains(";"), type.subtype.utf8.count == name.utf8.count else {
            throw MultipartError(code: .invalidSubtype, message: "\(name.debugDescription) is not a multipart subtype.")
        }
        self.name = type.subtype
        var text = ""
        for (name, value) in parameters {
            guard let parameter = MediaType("multipart/x; \(name)=v")?.parameters.first, parameter.value == "v",
                parameter.name.utf8.count == name.utf8.count, parameter.name != "boundary",
                value.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
            else {
                throw MultipartError(
                    code: .invalidSubtype,
                    message: "\("\(name)=\(value)".debugDescription) is not a parameter of a multipart subtype.")
            }
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            text += "; \(name)=\"\(escaped)\""
        }
        self.parameters = text
    }

    /// The name.
    public var description: String { name }
}
