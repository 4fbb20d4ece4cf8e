public import Foundation  // NSObject
public import LinnetSerialization

/// An image, with members of UIKit's class: the encoded data, and what a decoder has made of it.
///
/// Linnet draws nothing, and this module has no decoder; ``AFImageResponseSerializer/decoder`` is the place for one.
/// Without it, a program draws ``data``.
public final class UIImage: NSObject, DecodedImage {
    /// The encoded image; nil if there is none.
    public let data: Data?
    /// The decoded image; nil without a decoder.
    public let decoded: (any DecodedImage)?
    /// The number of pixels for a point.
    public let scale: CGFloat

    /// Creates an image.
    public init(data: Data?, decoded: (any DecodedImage)?, scale: CGFloat = 1) {
        self.data = data
        self.decoded = decoded
        self.scale = scale
    }

    /// Creates an image that is not decoded; nil for no bytes.
    public convenience init?(data: Data, scale: CGFloat = 1) {
        guard !data.isEmpty else { return nil }
        self.init(data: data, decoded: nil, scale: scale)
    }

    /// The decoded image, if it has a type.
    public func decoded<Image: DecodedImage>(as type: Image.Type) -> Image? { decoded as? Image }

    /// The memory that the image takes, in bytes.
    public var byteCount: Int { (data?.count ?? 0) + (decoded?.byteCount ?? 0) }
}
