public import LinnetSession

/// The images and background images of a button for each state of the control.
///
/// ```swift
/// let button = ButtonImageState(downloader)
/// button.image(for: .normal).load(ImageRequest(iconURL))
/// button.background(for: .highlighted).load(ImageRequest(glowURL))
/// draw(button.shownImage(for: .highlighted))   // the icon, as there is none for this state
/// ```
/// Each slot is an ``ImageState``, which is observed, loaded and cancelled on its own.
@MainActor
public final class ButtonImageState<Image: DecodedImage> {
    /// Loads the images.
    public let downloader: ImageDownloader<Image>
    private let images: Slots
    private let backgrounds: Slots

    /// One state of an image for each state of the control, so that all can be observed before they are loaded.
    private struct Slots {
        let normal: ImageState<Image>
        let highlighted: ImageState<Image>
        let selected: ImageState<Image>
        let disabled: ImageState<Image>

        @MainActor
        init(_ downloader: ImageDownloader<Image>) {
            normal = ImageState(downloader)
            highlighted = ImageState(downloader)
            selected = ImageState(downloader)
            disabled = ImageState(downloader)
        }

        subscript(state: ControlState) -> ImageState<Image> {
            switch state {
            case .normal: normal
            case .highlighted: highlighted
            case .selected: selected
            case .disabled: disabled
            }
        }
    }

    /// Creates a button without images.
    public init(_ downloader: ImageDownloader<Image>) {
        self.downloader = downloader
        images = Slots(downloader)
        backgrounds = Slots(downloader)
    }

    /// The image for a state of the control.
    public func image(for state: ControlState) -> ImageState<Image> { images[state] }

    /// The background image for a state of the control.
    public func background(for state: ControlState) -> ImageState<Image> { backgrounds[state] }

    /// The image to show in a state of the control: its own, or else the image of the normal state.
    public func shownImage(for state: ControlState) -> Image? { images[state].image ?? images[.normal].image }

    /// The background image to show in a state of the control: its own, or else the image of the normal state.
    public func shownBackground(for state: ControlState) -> Image? {
        backgrounds[state].image ?? backgrounds[.normal].image
    }
}

/// A state of a control, such as a button.
public enum ControlState: Sendable, Hashable, CaseIterable {
    /// Enabled, and neither selected nor highlighted.
    case normal
    /// Pressed, or under the pointer.
    case highlighted
    /// Selected.
    case selected
    /// Disabled.
    case disabled
}
