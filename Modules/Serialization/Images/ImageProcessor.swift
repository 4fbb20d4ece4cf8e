/// Makes a variant of an image, such as a scaled one.
///
/// ```swift
/// let preview = ImageProcessor<Bitmap>("preview") { try $0.scaled(toFit: 64).rounded(radius: 8) }
/// ```
/// The identifier stands for the function: caches keep a variant under the identifiers of its processors, so it must
/// differ between functions with different results, including their parameters.
public struct ImageProcessor<Image: DecodedImage>: Sendable {
    /// Names the function and its parameters, such as `scaled(toFit: 128)`.
    public let identifier: String
    /// The length of the longer side, in pixels, to which the processor scales larger images down in proportion, when
    /// it does nothing else; nil for other processors.
    ///
    /// A ``ScalingImageSerializer`` may decode an image in this size when it is the first processor of all variants
    /// that are asked for.
    public let maximumDimension: Int?
    private let transform: @Sendable (Image) throws -> Image

    /// Creates a processor. The function is called off the main thread, and several calls can run at the same time.
    ///
    /// - Parameters:
    ///   - identifier: Names the function and its parameters.
    ///   - maximumDimension: The value of ``ImageProcessor/maximumDimension``. The default is nil.
    ///   - transform: Makes the variant. With a `maximumDimension`, it is given an image of this size or smaller if the
    ///     serializer has scaled it.
    public init(
        _ identifier: String, maximumDimension: Int? = nil, _ transform: @escaping @Sendable (Image) throws -> Image
    ) {
        self.identifier = identifier
        self.maximumDimension = maximumDimension
        self.transform = transform
    }

    /// Returns the variant. Throws what the function throws.
    public func process(_ image: Image) throws -> Image { try transform(image) }
}
