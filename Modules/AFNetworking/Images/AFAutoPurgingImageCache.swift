public import Foundation  // NSObject
internal import LinnetSession
public import LinnetUIState

/// Keeps images by identifiers.
public protocol AFImageCache: AnyObject, Sendable {
    /// Adds an image, or replaces the one with the identifier.
    func add(_ image: UIImage, withIdentifier identifier: String)
    /// Removes the image with an identifier, and returns whether there was one.
    func removeImage(withIdentifier identifier: String) -> Bool
    /// Removes all images, and returns whether there were any.
    func removeAllImages() -> Bool
    /// Returns the image with an identifier.
    func image(withIdentifier identifier: String) -> UIImage?
}

/// Keeps images by their requests and additional identifiers.
public protocol AFImageRequestCache: AFImageCache {
    /// Decides whether an image that was downloaded is kept.
    func shouldCache(_ image: UIImage, for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool
    /// Adds the image of a request, or replaces it.
    func add(_ image: UIImage, for request: URLRequest, withAdditionalIdentifier identifier: String?)
    /// Removes the image of a request, and returns whether there was one.
    func removeImagefor(_ request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool
    /// Returns the image of a request.
    func imagefor(_ request: URLRequest, withAdditionalIdentifier identifier: String?) -> UIImage?
}

// SAFETY: The one stored property is constant and Sendable.
/// Keeps images in memory, within a limit on their bytes: AFNetworking's face of `AutoPurgingImageCache`.
///
/// When the limit is exceeded, the images that were used least recently are removed, until the preferred usage is
/// reached. Images of requests are told apart by the URL, the header fields and the additional identifier, and never
/// share an identifier with other images.
open class AFAutoPurgingImageCache: NSObject, AFImageRequestCache, @unchecked Sendable {
    /// Linnet's cache.
    public let cache: AutoPurgingImageCache<UIImage>

    /// Creates a cache of 100 MB, which is reduced to 60 MB.
    public override convenience init() {
        self.init(memoryCapacity: 100 * 1024 * 1024, preferredMemoryCapacity: 60 * 1024 * 1024)
    }

    /// Creates a cache. A preferred capacity beyond the capacity is limited by it.
    public init(memoryCapacity: UInt64, preferredMemoryCapacity: UInt64) {
        cache = AutoPurgingImageCache(
            memoryCapacity: Int(clamping: memoryCapacity),
            preferredMemoryUsageAfterPurge: Int(clamping: preferredMemoryCapacity))
    }

    /// The maximum size of all images, in bytes.
    open var memoryCapacity: UInt64 { UInt64(cache.memoryCapacity) }

    /// The size in bytes after a purge.
    open var preferredMemoryUsageAfterPurge: UInt64 { UInt64(cache.preferredMemoryUsageAfterPurge) }

    /// The size of all images, in bytes.
    open var memoryUsage: UInt64 { UInt64(cache.memoryUsage) }

    // MARK: By identifiers

    /// Adds an image, or replaces the one with the identifier. One beyond the capacity is not added.
    open func add(_ image: UIImage, withIdentifier identifier: String) { cache.add(image, withIdentifier: identifier) }

    /// Removes the image with an identifier, and returns whether there was one.
    @discardableResult
    open func removeImage(withIdentifier identifier: String) -> Bool { cache.removeImage(withIdentifier: identifier) }

    /// Removes all images, and returns whether there were any.
    @discardableResult
    open func removeAllImages() -> Bool { cache.removeAllImages() }

    /// Returns the image with an identifier, and counts it as used.
    open func image(withIdentifier identifier: String) -> UIImage? { cache.image(withIdentifier: identifier) }

    // MARK: By requests

    /// Keeps every image.
    open func shouldCache(
        _ image: UIImage, for request: URLRequest, withAdditionalIdentifier identifier: String?
    ) -> Bool { true }

    /// Adds the image of a request, or replaces it.
    open func add(_ image: UIImage, for request: URLRequest, withAdditionalIdentifier identifier: String?) {
        if let request = ImageRequest(request, identifier) { cache.add(image, for: request) }
    }

    /// Removes the image of a request, and returns whether there was one.
    @discardableResult
    open func removeImagefor(_ request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool {
        ImageRequest(request, identifier).map { cache.removeImage(for: $0) } ?? false
    }

    /// Returns the image of a request, and counts it as used.
    open func imagefor(_ request: URLRequest, withAdditionalIdentifier identifier: String?) -> UIImage? {
        ImageRequest(request, identifier).flatMap { cache.image(for: $0) }
    }
}

extension ImageRequest<UIImage> {
    /// The request for an image; nil if it cannot be sent.
    init?(_ request: URLRequest, _ additionalIdentifier: String? = nil) {
        guard let made = try? request.made() else { return nil }
        self.init(made.url, headerFields: made.headerFields, options: made.options)
        if let additionalIdentifier {
            processors = [ImageProcessor(additionalIdentifier) { $0 }]
        }
    }
}
