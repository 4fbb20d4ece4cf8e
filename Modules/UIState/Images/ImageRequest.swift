public import FoundationEssentials
public import HTTPTypes
public import LinnetSession

/// A request for an image: the source to download, and the wanted variant.
///
/// ```swift
/// let request = ImageRequest(url, processors: [.scaled(toFit: 128), .rounded()])
/// ```
public struct ImageRequest<Image: DecodedImage>: Sendable {
    /// The URL.
    public var url: URL
    /// Header fields, in addition to the session's. `Accept: image/*` is added when there is no Accept field.
    public var headerFields: HTTPFields
    /// The options of the request. `cachePolicy` also applies to the image cache: policies that ignore or validate
    /// stored responses do not use it.
    public var options: RequestOptions
    /// The processors that make the variant, in order. The default is none: the decoded image.
    public var processors: [ImageProcessor<Image>]
    /// The priority among waiting requests. The default is `.normal`.
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

/// The source to download. Requests with equal sources share one download.
struct ImageSource: Hashable, Sendable {
    let url: URL
    let headerFields: HTTPFields
    let options: RequestOptions
}

/// The key of an image in the cache.
enum ImageKey: Hashable, Sendable {
    case identifier(String)
    case request(URL, HTTPFields, variant: [String])
}

extension ImageRequest {
    var source: ImageSource { ImageSource(url: url, headerFields: headerFields, options: options) }

    var variant: [String] { processors.map { $0.identifier } }

    /// The size of the variant's first scaling; nil without one.
    var firstLimit: Int? { processors.first?.maximumDimension }

    var key: ImageKey { .request(url, headerFields, variant: variant) }

    /// The key of the image before processing.
    var originalKey: ImageKey { .request(url, headerFields, variant: []) }

    /// Whether an image from the cache may answer the request.
    var usesImageCache: Bool {
        switch options.cachePolicy {
        case nil, RequestOptions.CachePolicy.protocolDefined, RequestOptions.CachePolicy.cacheElseLoad,
            RequestOptions.CachePolicy.cacheOnly:
            true
        default: false
        }
    }
}

/// An image and its origin.
public struct ImageResponse<Image: DecodedImage>: Sendable {
    /// The image.
    public let image: Image
    /// The response of the decoded image, without its body; nil if the image existed already, for example in the image
    /// cache.
    public let response: SessionResponse<Void>?
}
