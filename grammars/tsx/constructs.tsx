import React, { useState } from 'react';

type Props = { title: string; onClose?: () => void };

const Frame = React.memo(function Frame({ title }: Props) {
  const [isOpen, setOpen] = useState(false);
  return <div onClick={() => { const next = !isOpen; setOpen(next); }}>{title}</div>;
});

export function Picture({ title, onClose }: Props) {
  const label = title.trim();
  function close() { onClose?.(); }
  return <button onClick={close}>{label}</button>;
}

export const Gallery: React.FC<{ items: string[] }> = ({ items }) => (
  <ul>
    {items.map((item) => {
      const key = item;
      return <li key={key}>{item}</li>;
    })}
  </ul>
);

class Wall extends React.Component<Props, { count: number }> {
  state = { count: 0 };
  static defaultProps = { title: 'wall' };
  handle = () => this.setState({ count: 1 });
  render() { return <Frame title={this.props.title} />; }
}

export const theme = {
  colour: 'red',
  scale: (value: number) => value * 2,
};

export default Wall;
