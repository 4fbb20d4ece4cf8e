public import FoundationEssentials
public import HTTPTypes
public import LinnetSession

/// A request for an image: what is downloaded, and the variant of it that is wanted.
///
/// ```swift
/// let request = ImageRequest(url, processors: [.scaled(toFit: 128), .rounded()])
/// ```
public struct ImageRequest<Image: DecodedImage>: Sendable {
    /// The URL.
    public var url: URL
    /// Header fields, in addition to the session's. `Accept: image/*` is added when there is no Accept field.
    public var headerFields: HTTPFields
    /// The options of the request. `cachePolicy` also decides whether the image cache is used: it is not with the policies
    /// that ignore or validate what is stored.
    public var options: RequestOptions
    /// The processors that make the variant, the first one first. The default is none: the image as it was decoded.
    public var processors: [ImageProcessor<Image>]
    /// The priority among the requests that wait to be downloaded. The default is `.normal`.
    public var priority: RequestPriority

    /// Creates a request.
    public init(
        _ url: URL, headerFields: HTTPFields = [:], options: RequestOptions = RequestOptions(),
        processors: [ImageProcessor<Image>] = [], priority: RequestPriority = .normal
    ) {
        self.url = url
        self.headerFields = headerFields
        self.options = options
        self.processors = processors
        self.priority = priority
    }
}

/// What is downloaded. Requests with equal sources share one download.
struct ImageSource: Hashable, Sendable {
    let url: URL
    let headerFields: HTTPFields
    let options: RequestOptions
}

/// What an image is kept under in the cache.
enum ImageKey: Hashable, Sendable {
    case identifier(String)
    case request(URL, HTTPFields, variant: [String])
}

extension ImageRequest {
    var source: ImageSource { ImageSource(url: url, headerFields: headerFields, options: options) }

    var variant: [String] { processors.map { $0.identifier } }

    /// The size to which the variant is scaled first; nil if it is not.
    var firstLimit: Int? { processors.first?.maximumDimension }

    var key: ImageKey { .request(url, headerFields, variant: variant) }

    /// The key of the image that the processors are given.
    var originalKey: ImageKey { .request(url, headerFields, variant: []) }

    /// Whether an image from the cache is an answer.
    var usesImageCache: Bool {
        switch options.cachePolicy {
        case nil, RequestOptions.CachePolicy.protocolDefined, RequestOptions.CachePolicy.cacheElseLoad,
            RequestOptions.CachePolicy.cacheOnly:
            true
        default: false
        }
    }
}

/// An image, and where it is from.
public struct ImageResponse<Image: DecodedImage>: Sendable {
    /// The image.
    public let image: Image
    /// The response that the image was decoded from, without its body; nil if the image was there already, as one from the image
    /// cache.
    public let response: SessionResponse<Void>?
}
