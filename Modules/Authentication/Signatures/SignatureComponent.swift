public import HTTPTypes

/// A part of a request that a signature covers (RFC 9421, section 2).
public struct SignatureComponent: Hashable, Sendable, CustomStringConvertible {
    /// The types of structured fields (RFC 8941, section 3).
    public enum FieldType: Sendable {
        /// One value with parameters.
        case item
        /// Values and lists of values.
        case list
        /// Values with keys.
        case dictionary
    }

    /// The name in lower case, or the name of a derived component, which begins with `@`.
    let name: String
    let parameters: [StructuredField.Parameter]
    /// The type of a field with `sf`; nil for other components, and if it is unknown.
    var type: FieldType?

    private init(_ name: String, _ parameters: [StructuredField.Parameter] = [], type: FieldType? = nil) {
        (self.name, self.parameters, self.type) = (name, parameters, type)
    }

    /// The method (section 2.2.1).
    public static let method = SignatureComponent("@method")
    /// The whole URL, without user information and fragment (section 2.2.2).
    public static let targetURI = SignatureComponent("@target-uri")
    /// The host, and the port unless it is the scheme's default (section 2.2.3).
    public static let authority = SignatureComponent("@authority")
    /// The scheme (section 2.2.4).
    public static let scheme = SignatureComponent("@scheme")
    /// The path and the query as they are sent to a server (section 2.2.5). A request in clear text through a proxy has
    /// the whole URL there instead, so that its signature does not match.
    public static let requestTarget = SignatureComponent("@request-target")
    /// The path (section 2.2.6).
    public static let path = SignatureComponent("@path")
    /// The query, with its question mark (section 2.2.7).
    public static let query = SignatureComponent("@query")
    /// The status of a response (section 2.2.9).
    package static let status = SignatureComponent("@status")

    /// A parameter of the query (section 2.2.8), which occurs once in it.
    ///
    /// - Parameter name: The name of the parameter, decoded.
    public static func queryParameter(_ name: String) -> SignatureComponent {
        SignatureComponent("@query-param", [.init(key: "name", value: .string(FormEncoding.encoded(name.utf8)))])
    }

    /// The digest of the body (RFC 9530). A request without a Content-Digest field is sent with one.
    public static let contentDigest = SignatureComponent(HTTPField.Name.contentDigest.canonicalName)

    /// A header field (section 2.1). The values of several lines are joined with commas. Do not cover fields that
    /// proxies change, nor fields of the connection.
    public static func field(_ name: HTTPField.Name) -> SignatureComponent { SignatureComponent(name.canonicalName) }

    /// A structured field in its canonical form (`sf`, section 2.1.1).
    public static func field(_ name: HTTPField.Name, as type: FieldType) -> SignatureComponent {
        SignatureComponent(name.canonicalName, [.init(key: "sf", value: .boolean(true))], type: type)
    }

    /// A member of a field that is a dictionary (`key`, section 2.1.2).
    public static func field(_ name: HTTPField.Name, member key: String) -> SignatureComponent {
        SignatureComponent(name.canonicalName, [.init(key: "key", value: .string(key))])
    }

    /// A field whose values may contain commas or bytes beyond ASCII (`bs`, section 2.1.3).
    public static func bytes(of name: HTTPField.Name) -> SignatureComponent {
        SignatureComponent(name.canonicalName, [.init(key: "bs", value: .boolean(true))])
    }

    /// The component of an item in a Signature-Input field.
    init?(_ item: StructuredField.Item) {
        guard case .string(let name) = item.value else { return nil }
        self.init(name, item.parameters)
    }

    /// The identifier (section 2.5), such as `"@query-param";name="Pet"`.
    public var description: String { item.text }

    var item: StructuredField.Item { StructuredField.Item(value: .string(name), parameters: parameters) }

    func parameter(_ key: String) -> StructuredField.BareItem? { parameters.first { $0.key == key }?.value }

    /// Whether both have the same identifier.
    public static func == (left: SignatureComponent, right: SignatureComponent) -> Bool {
        left.name == right.name && Set(left.parameters) == Set(right.parameters)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
