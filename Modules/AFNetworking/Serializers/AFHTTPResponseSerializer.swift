public import Foundation  // NSObject, NSCopying
internal import LinnetMessages
internal import Synchronization

/// Reads the body of a response.
public protocol AFURLResponseSerialization: NSObjectProtocol, NSSecureCoding, NSCopying, Sendable {
    /// Returns what the body holds; nil, or with an error, if the response is refused or cannot be read.
    func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any?
}

// SAFETY: The mutable state is in a mutex.
/// Checks the status and the content type of a response, and returns its body as `Data`.
///
/// All members can be used from any thread.
open class AFHTTPResponseSerializer: NSObject, AFURLResponseSerialization, @unchecked Sendable {
    struct State {
        var statusCodes: IndexSet? = IndexSet(200..<300) {
            didSet { statusRanges = statusCodes.map { Array($0.rangeView) } }
        }
        /// The same as ranges: searching an index set takes thousands of instructions.
        private(set) var statusRanges: [Range<Int>]? = [200..<300]
        var contentTypes: Set<String>?
        /// The settings of the subclasses.
        var readingOptions: JSONSerialization.ReadingOptions = []
        var removesKeysWithNullValues = false
        var format = PropertyListSerialization.PropertyListFormat.xml
        var readOptions: PropertyListSerialization.ReadOptions = []
        var members: [any AFURLResponseSerialization] = []
        var decoder: AFImageResponseSerializer.Decoder?
        var imageScale = 1.0
        var inflatesImages = true
    }

    let state = Mutex(State())

    /// Creates a serializer with the defaults.
    public override init() {
        super.init()
        acceptableContentTypes = type(of: self).usualContentTypes
    }

    class var usualContentTypes: Set<String>? { nil }

    /// Decodes a serializer, or makes a copy of one; nil for an archive that has none.
    public required init?(coder: NSCoder) {
        super.init()
        if let original = coder.original(as: AFHTTPResponseSerializer.self)?.state.withLock({ $0 }) {
            state.withLock { $0 = original }
        } else if let settings = coder.decodeSettings(ArchivedResponseSerializer.self, of: Self.key) {
            let members = coder.decodeMembers(forKey: Self.membersKey)
            state.withLock { $0 = settings.state(members) }
        } else {
            return nil
        }
    }

    private static let key = "AFHTTPResponseSerializer"
    private static let membersKey = "AFHTTPResponseSerializer.members"

    /// Archives are secure.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all settings except the decoder of images.
    open func encode(with coder: NSCoder) {
        let settings = state.withLock { $0 }
        coder.encode(settings: ArchivedResponseSerializer(settings), of: Self.key)
        coder.encode(members: settings.members, forKey: Self.membersKey)
    }

    /// Returns a serializer with the same settings, made by `init(coder:)`.
    open func copy(with zone: NSZone? = nil) -> Any { CopyingCoder.copy(of: self) ?? AFHTTPResponseSerializer() }

    /// The statuses to accept; the default is 200 to 299, nil accepts all.
    open var acceptableStatusCodes: IndexSet? {
        get { state.withLock { $0.statusCodes } }
        set { state.withLock { $0.statusCodes = newValue } }
    }

    /// The media types to accept, in lower case and without parameters; nil accepts all.
    open var acceptableContentTypes: Set<String>? {
        get { state.withLock { $0.contentTypes } }
        set { state.withLock { $0.contentTypes = newValue } }
    }

    /// Checks the status and the content type of a response. A response without a body may have any type, or none.
    ///
    /// - Throws: An `NSError` in ``AFURLResponseSerializationErrorDomain``, with the response and the body:
    ///   `NSURLErrorBadServerResponse` for the status, with an error for the content type below it if both are refused;
    ///   `NSURLErrorCannotDecodeContentData` for the content type.
    open func validate(_ response: HTTPURLResponse?, data: Data?) throws {
        guard let response else { return }
        let (codes, types) = state.withLock { ($0.statusRanges, $0.contentTypes) }
        var refusal: NSError?
        if let types, data?.isEmpty == false {
            let type = response.mimeType
            if !types.contains(type ?? "") {
                refusal = .refusing(
                    response, data, code: NSURLErrorCannotDecodeContentData,
                    "Request failed: unacceptable content-type: \(type ?? "(none)")")
            }
        }
        let code = response.statusCode
        if let codes, !codes.contains(where: { $0.contains(code) }) {
            let status = HTTPURLResponse.localizedString(forStatusCode: code)
            refusal = .refusing(
                response, data, code: NSURLErrorBadServerResponse, "Request failed: \(status) (\(code))",
                underlying: refusal)
        }
        if let refusal { throw refusal }
    }

    /// Returns the body; with an error if the response is refused.
    open func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        error?.pointee = refusal(of: response, data)
        return data
    }

    /// Why a response is refused.
    func refusal(of response: URLResponse?, _ data: Data?) -> NSError? {
        do {
            try validate(response as? HTTPURLResponse, data: data)
            return nil
        } catch {
            return error as NSError
        }
    }

    /// Reads the body of a response. One that is refused for its status is read too, so that the failure has what the
    /// server said; one that is refused for its type is not.
    ///
    /// The first error counts: a body that cannot be read never hides the status.
    package func read(
        _ response: URLResponse?, _ data: Data?, error: NSErrorPointer, parse: (Data) throws -> Any?
    ) -> Any? {
        let refusal = refusal(of: response, data)
        error?.pointee = refusal
        guard refusal?.isAboutContentType != true, let data else { return nil }
        do {
            return try parse(data)
        } catch let problem {
            if refusal == nil { error?.pointee = (problem as NSError).asUnreadable(response as? HTTPURLResponse, data) }
            return nil
        }
    }
}

extension NSError {
    fileprivate static func refusing(
        _ response: HTTPURLResponse, _ data: Data?, code: Int, _ text: String, underlying: NSError? = nil
    ) -> NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: text, AFNetworkingOperationFailingURLResponseErrorKey: response,
        ]
        if let url = response.url { info[NSURLErrorFailingURLErrorKey] = url }
        if let data { info[AFNetworkingOperationFailingURLResponseDataErrorKey] = data }
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return NSError(domain: AFURLResponseSerializationErrorDomain, code: code, userInfo: info)
    }

    /// Whether the error, or one below it, refuses the content type.
    fileprivate var isAboutContentType: Bool {
        if domain == AFURLResponseSerializationErrorDomain, code == NSURLErrorCannotDecodeContentData { return true }
        return (userInfo[NSUnderlyingErrorKey] as? NSError)?.isAboutContentType ?? false
    }

    fileprivate func asUnreadable(_ response: HTTPURLResponse?, _ data: Data) -> NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "The body cannot be read: \(localizedDescription)", NSUnderlyingErrorKey: self,
            AFNetworkingOperationFailingURLResponseDataErrorKey: data,
        ]
        if let response { info[AFNetworkingOperationFailingURLResponseErrorKey] = response }
        return NSError(
            domain: AFURLResponseSerializationErrorDomain, code: NSURLErrorCannotDecodeContentData, userInfo: info)
    }
}
