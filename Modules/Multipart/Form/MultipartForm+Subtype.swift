internal import LinnetMessages
import LinnetSerialization

extension MultipartForm {
    /// The subtype of a multipart body, with its parameters.
    ///
    /// The default is ``formData``. Others are for services that accept several documents in one request, for example a
    /// file and its description in JSON.
    public struct Subtype: Sendable, Hashable, CustomStringConvertible {
        /// The name in lower case, such as `form-data`.
        public let name: String
        /// The parameters for Content-Type, each after `; `.
        let parameters: String

        private init(unchecked name: String) {
            self.name = name
            parameters = ""
        }

        /// A form (RFC 7578).
        public static let formData = MultipartForm.Subtype(unchecked: "form-data")
        /// Independent parts (RFC 2046, section 5.1.3).
        public static let mixed = MultipartForm.Subtype(unchecked: "mixed")
        /// Alternative formats of the same content, the best last (RFC 2046, section 5.1.4).
        public static let alternative = MultipartForm.Subtype(unchecked: "alternative")

        /// Parts of one compound object (RFC 2387).
        ///
        /// - Parameters:
        ///   - type: The media type of the root part, such as `application/json`.
        ///   - start: The Content-ID of the root part, with angle brackets. The default, nil, means the first part.
        ///   - startInfo: Additional information for the receiver, which some types define.
        /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidSubtype`` if `type` is not a media type, or
        ///   another value is not printable ASCII.
        public static func related(
            type: String, start: String? = nil, startInfo: String? = nil
        ) throws(MultipartError) -> MultipartForm.Subtype {
            guard MIMEType.isWellFormed(type) else {
                throw MultipartError(code: .invalidSubtype, message: "\(type.debugDescription) is not a media type.")
            }
            var parameters = [("type", type)]
            if let start { parameters.append(("start", start)) }
            if let startInfo { parameters.append(("start-info", startInfo)) }
            return try MultipartForm.Subtype("related", parameters)
        }

        /// Another subtype, with its parameters in order, except the boundary.
        ///
        /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidSubtype`` if a name is not a token (RFC 9110,
        ///   section 5.6.2), a value is not printable ASCII, or a parameter is named `boundary`.
        public init(_ name: String, parameters: KeyValuePairs<String, String> = [:]) throws(MultipartError) {
            try self.init(name, parameters.map { ($0.key, $0.value) })
        }

        private init(_ name: String, _ parameters: [(name: String, value: String)]) throws(MultipartError) {
            let type = MIMEType("multipart/\(name)")
            guard let type, !name.contains(";"), type.subtype.utf8.count == name.utf8.count else {
                throw MultipartError(
                    code: .invalidSubtype, message: "\(name.debugDescription) is not a multipart subtype.")
            }
            self.name = type.subtype
            var text = ""
            for (name, value) in parameters {
                guard let parameter = MIMEType("multipart/x; \(name)=v")?.parameters.first, parameter.value == "v",
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
}
