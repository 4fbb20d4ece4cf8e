public import Foundation  // NSCoder
public import LinnetAFNetworking
internal import Synchronization

// SAFETY: The mutable state is in a mutex.
/// Reads an XML response as a tree: an `XMLTree`, since Foundation's `XMLDocument` is in FoundationXML on Linux, and
/// ends the process for a document that is empty or not text.
open class AFXMLDocumentResponseSerializer: AFHTTPResponseSerializer, @unchecked Sendable {
    private static let key = "AFXMLDocumentResponseSerializer.options"

    private let mask = Mutex<UInt>(0)

    /// Creates a serializer that accepts `application/xml` and `text/xml`.
    public override init() {
        super.init()
        acceptableContentTypes = ["application/xml", "text/xml"]
    }

    /// Creates a serializer with options.
    public convenience init(xmlDocumentOptions mask: UInt) {
        self.init()
        options = mask
    }

    /// Decodes a serializer, or makes a copy of one; nil for an archive that has none.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        if coder.allowsKeyedCoding { options = UInt(bitPattern: coder.decodeInteger(forKey: Self.key)) }
    }

    /// Encodes all settings.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        if coder.allowsKeyedCoding { coder.encode(Int(bitPattern: options), forKey: Self.key) }
    }

    /// Returns a serializer with the same settings.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        (copy as? AFXMLDocumentResponseSerializer)?.options = options
        return copy
    }

    /// The options of Foundation's parser, without effect: nothing is loaded, and entities are not declared.
    open var options: UInt {
        get { mask.withLock { $0 } }
        set { mask.withLock { $0 = newValue } }
    }

    /// Returns the tree of the body: also with an error, if the response is refused for its status; nil with an error,
    /// if it is refused for its type, or cannot be read.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        read(response, data, error: error) { try XMLTree(parsing: $0, charset: response?.textEncodingName) }
    }
}
