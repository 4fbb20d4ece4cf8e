/// Makes a variant of an image, such as a scaled one.
///
/// ```swift
/// let gray = ImageProcessor<Bitmap>("gray") { try $0.inGray() }
/// ```
/// The identifier stands for the function: caches keep a variant under the identifiers of its processors, so it must differ
/// between functions with different results, including their parameters.
public struct ImageProcessor<Image: DecodedImage>: Sendable {
    /// Names the function and its parameters, such as `scaled(toFit: 128)`.
    public let identifier: String
    private let transform: @Sendable (Image) throws -> Image

    /// Creates a processor. The function is called off the main thread, and several calls can run at the same time.
    public init(_ identifier: String, _ transform: @escaping @Sendable (Image) throws -> Image) {
        self.identifier = identifier
        self.transform = transform
    }

    /// Returns the variant. Throws what the function throws.
    public func process(_ image: Image) throws -> Image { try transform(image) }
}
